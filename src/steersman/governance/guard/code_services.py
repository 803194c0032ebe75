"""Inline code that changes something at a service: clouds, clusters, databases, registries.

Code that loads a client of such a service is asked about when it calls a method that deletes, sends
or changes; a service on this machine or a stand-in for tests is not.
"""

from typing import TYPE_CHECKING

from steersman.governance.guard.marks import shown
from steersman.governance.guard.scene import ASK, BLOCK
from steersman.records.patterns import pattern

if TYPE_CHECKING:
    from steersman.governance.guard.shell import Shell

_CLIENTS = pattern(
    r"(?:\b(?:import|from|require|require_once|use|using|load|library)\b|import\()[^\n;]*?"
    r"(?:\b(?:boto3?|botocore|aioboto\w*|google\.cloud|google\.oauth2|googleapiclient|gcloud|azure|"
    r"msgraph|kubernetes\w*|openshift|openstack|digitalocean|hcloud|linode_api4|oci|ibm_\w+|cloudflare|"
    r"psycopg\w*|asyncpg|pymysql|MySQLdb|mysql\w*|mariadb|oracledb|cx_Oracle|pyodbc|pymssql|sqlalchemy|"
    r"snowflake|databricks|clickhouse_\w+|redshift_connector|trino|pymongo|motor|mongoengine|cassandra|"
    r"redis|valkey|aioredis|elasticsearch\w*|opensearchpy|pinecone|qdrant_client|weaviate|chromadb|"
    r"neo4j|influxdb\w*|stripe|braintree|paypal\w*|twilio|sendgrid|mailgun|slack_sdk|slack_bolt|"
    r"discord|telegram|tweepy|github|gitlab|ghapi|jira|atlassian|wandb|mlflow|huggingface_hub|"
    r"transformers|datasets|kaggle|comet_ml|neptune|clearml|dvc|docker|podman|paramiko|fabric|netmiko|"
    r"asyncssh|ansible_runner|pulumi|consul|etcd3?|hvac|kafka|confluent_kafka|pika|nats|celery|"
    r"firebase_admin|supabase|algoliasearch|meilisearch|shopify|hubspot|salesforce|simple_salesforce|"
    r"ldap3?|winrm|proxmoxer|pyVmomi|libvirt|minio|b2sdk|dropbox|gspread|pygsheets|smtplib|aiosmtplib|openai|anthropic|ee|airflow|prefect|"
    r"dagster|boxsdk|notion_client|linear|pyairtable|zenpy|intercom|pagerduty\w*|datadog\w*|sentry_sdk|"
    r"newrelic|vercel|heroku3|fabric2|invoke|pexpect|pysftp|ftplib)\b"
    r"|['\"](?:aws-sdk|@aws-sdk/|@google-cloud/|googleapis|@azure/|@kubernetes|firebase|mongodb|"
    r"mongoose|ioredis|redis|pg|mysql2?|mssql|knex|sequelize|@prisma|typeorm|stripe|twilio|@sendgrid|"
    r"@octokit|@gitbeaker|@slack|dockerode|ssh2|@elastic|@opensearch|@supabase|kafkajs|amqplib|"
    r"@vercel|cloudflare|@pinecone|@shopify|mongo\b|fog|octokit|kubeclient|droplet_kit|net/ssh|"
    r"active_record|sequel|google/cloud|azure))"
)
_NAMED = pattern(
    r"\bAws::|\bGoogle::Cloud|\bAzure::|\bStripe::|\bOctokit::|\bRedis\.new|\bMongo::|\bPG\.connect|"
    r"\bMysql2::|\bnew (?:PDO|mysqli|Redis|MongoClient|Aws\\)|\bmysqli_connect|\bDBI->connect|"
    r"\bActiveRecord::|\bNet::SSH|\b__import__\(['\"](?:boto3|redis|psycopg2|pymongo|docker)"
)
_METHOD = pattern(
    r"(?:\.|::|->)("
    r"(?:begin_)?(?:delete|terminate|destroy|purge|flushall|flushdb|flushAll|flushDb|wipe|erase|prune)\w*|"
    r"drop(?=\s*\(\s*\))|(?:drop|truncate|deregister|schedule|remove|revoke|stop|reboot|release|"
    r"disable|detach|cancel|archive|evict|drain|put|create|update|modify|attach|upload|push|publish|"
    r"send|patch|replace|scale|rotate|transfer|grant|restore|invite|approve|refund)"
    r"_(?!all\b|engine\b|async_engine\b|client\b|session\b|index\b|default\w*|task\b|layout\b)\w+|"
    r"(?:drop|truncate|remove|revoke|stop|reboot|put|create|update|upload|publish|send|modify|run)"
    r"(?:Bucket|Object|Instance|Table|Function|Stack|Database|DB|Cluster|User|Role|Queue|Topic|Secret|"
    r"Repo|Release|Key|Message|Mail|Many|One|Collection|Index|Namespaced)\w*|"
    r"run_(?:instances|task|job|query_job)|start_(?:instances|execution|build)|exec_command|exec_run|sendmail|chat_\w+|postMessage|sendEmail|storbinary|"
    r"reset_password|close_account|add_user\w*|add_role\w*|set_iam_policy|setIamPolicy|"
    r"(?:charges|refunds|payouts|transfers|customers|subscriptions|Charge|Refund|Payout|Transfer|"
    r"Customer|Subscription|PaymentIntent|messages|chat)\.(?:create|delete|del|cancel|modify)|"
    r"save_to_hub|kill|del|remove(?=\(\s*(?:force|v)\s*=))!?\s*(?:\(|\Z|;|['\"}\]]|\n|\s(?:end|do)\b)"
    r"|\bnew ((?:Delete|Terminate|Put|Create|Update|Purge|Remove|Stop|Reboot|Run|Send)\w+Command)\("
)
_STATEMENT = pattern(
    r"(?i)['\"`]\s*(drop\s+(?:table|database|schema|index|view|user|role|keyspace|collection)|"
    r"truncate\s+(?:table\s+)?\w|delete\s+from\s+[\w.\"`]+\s*(?:;|['\"`])|alter\s+\w+|grant\s|revoke\s|"
    r"update\s+[\w.]+\s+set\s+(?:(?!\bwhere\b)[^'\"`])*['\"`]|flushall|flushdb)"
)
_DATABASE = pattern(
    r"\b(?:execute|executemany|executescript|exec_driver_sql|query|raw|run|prepare|do|exec|unsafe|"
    r"command|sql)\s*\("
)
_STAND_IN = pattern(
    r"(?:endpoint(?:_url)?|host|url|uri|base_url|api_endpoint)['\"]?\s*[=:]+>?\s*['\"](?:\w+://)?"
    r"(?:[^'\"@/]*@)?(?:localhost|127\.|0\.0\.0\.0|\[?::1)|\bmock_\w+|\bmoto\b|fakeredis|mongomock|"
    r"testcontainers|:memory:|sqlite://|unittest\.mock"
)
_READS_ONLY = pattern(r"\b(?:DryRun|dry_run)\s*=\s*True")
# Whole tables emptied through a program's own models.
_MODELS = pattern(
    r"(\bRepo\.delete_all|\.objects\.(?:all|filter)\([^)]*\)\.(?:delete|update)\(|\.(?:delete|destroy)_all\b|"
    r"::truncate\(|\.deleteMany\(\s*(?:\{\s*\})?\s*\)|\.query\(\w+\)\.delete\()"
)


def services(shell: "Shell", text: str) -> None:
    """Ask about calls that change something at a service."""
    emptied = _MODELS.search(text)
    if emptied and not _STAND_IN.search(text):
        reason = f"Code deletes or changes whole tables: {shown(emptied[1], 40)}."
        shell.scene.note(ASK, "db.code", reason)
    if not (_CLIENTS.search(text) or _NAMED.search(text)):
        return
    stand_in = bool(_STAND_IN.search(text) or _READS_ONLY.search(text))
    found = _METHOD.search(text)
    if found and not stand_in:
        name = found[1] or found[2]
        reason = f"Code changes something at a service: {shown(name)}."
        shell.scene.note(ASK, "code.service", reason, "Ask the user to run it.")
    wanted = _STATEMENT.search(text)
    if wanted and _DATABASE.search(text):
        reason = f"Code changes or destroys a database: {shown(wanted[1], 40)}."
        drops = wanted[1].lower().startswith(("drop database", "drop schema"))
        if drops or not stand_in:
            shell.scene.note(BLOCK if drops and not stand_in else ASK, "db.code", reason)


_APPS = pattern(
    r"(?is)\btell\s+app\w*.*\b(?:delete|empty|erase|move|shut\s?down|restart|log\s?out|sleep|quit|"
    r"keystroke|key\s+code|click|set|duplicate|eject|send)\b|administrator\s+privileges"
)


def scripted(shell: "Shell", text: str) -> None:
    """AppleScript that steers other programs."""
    if _APPS.search(text):
        shell.scene.note(ASK, "code.apps", "Code makes other programs change something.")
