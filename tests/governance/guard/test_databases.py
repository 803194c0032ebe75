"""Databases for tests are made again all the time; every other one is asked about or kept."""

import pytest

from tests.governance.guard.kit import said, verdict

CALM = """
dropdb --if-exists myapp_test && createdb myapp_test
dropdb myapp_test
dropdb --if-exists test_myapp
dropdb --if-exists -h localhost -p 5433 -U postgres myapp-test
dropdb --if-exists --host=127.0.0.1 myapp_test_1
dropdb --if-exists --force test && createdb -O app test
dropdb -h /var/run/postgresql myapp_testing
createdb test_db
createdb -h localhost -T template0 -E UTF8 myapp_test
PGHOST=localhost dropdb --if-exists myapp_test
psql -c 'DROP DATABASE IF EXISTS myapp_test'
psql -h localhost -c 'drop database if exists "myapp_test"' -c 'create database myapp_test'
dropdb --if-exists --maintenance-db postgres myapp_test
psql postgres -c 'CREATE DATABASE myapp_test OWNER app;'
mysql -e 'drop database if exists `myapp_test`; create database `myapp_test`'
mysqladmin -f drop myapp_test && mysqladmin create myapp_test
""".strip().splitlines()

STOPPED = """
dropdb myapp_dev
dropdb test_db
dropdb --if-exists latest
dropdb --if-exists contest
dropdb --if-exists myapp
dropdb --if-exists prod_test
dropdb --if-exists -h db.prod myapp_test
dropdb --if-exists --host db.example.org myapp_test && createdb myapp_test
PGHOST=db.example.org dropdb --if-exists myapp_test
export PGHOST=db.example.org; createdb myapp_test
dropdb --if-exists --maintenance-db postgresql://db.example.org/postgres myapp_test
dropdb --if-exists "$DB"
dropdb --if-exists "${APP}_test"
dropuser myapp_test
createdb myapp
psql -c 'DROP DATABASE myapp'
psql -h db.example.org -c 'DROP DATABASE IF EXISTS myapp_test'
psql -c 'DROP DATABASE IF EXISTS myapp_test; DROP DATABASE myapp'
psql -d myapp -c 'DROP TABLE users -- myapp_test'
psql 'service=live' -c 'DROP DATABASE IF EXISTS myapp_test'
psql -d postgres://db.example.org/postgres -c 'DROP DATABASE IF EXISTS myapp_test'
mysql -h db.example.org -e 'drop database myapp_test'
mysqladmin -f drop myapp
mysqladmin -h db.example.org -f drop myapp_test
""".strip().splitlines()


@pytest.mark.parametrize("command", CALM)
def test_a_database_for_tests_on_this_machine_is_let_through(command):
    assert verdict(command) == "allow", said(command)


@pytest.mark.parametrize("command", STOPPED)
def test_any_other_database_is_not(command):
    assert verdict(command) != "allow", said(command)
