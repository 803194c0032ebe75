"""What every store promises to processes that meet in it: leases, states and the inbox."""

import random
import signal
from datetime import UTC, datetime, timedelta

import pytest

from steersman.records.errors import LeaseLost, RequestSettled, StorageProblem, ThreadBusy
from steersman.records.inbox import Cancel, Confirm, Queue, Request, Send, Set, Settled
from steersman.records.message import ConfirmResponse
from steersman.records.thread import Activity, ThreadState, Waiting
from steersman.store.chain import flaws
from tests.store.elsewhere import PATIENCE, finish, open_store, start
from tests.store.made import START, a_thread, some_rows
from tests.world import kill

WAITING = (Waiting("ask_1", "permission", "run make"),)
LATER = datetime.now(UTC) + timedelta(hours=1)
BEFORE = datetime.now(UTC) - timedelta(seconds=1)


def asking(request_id, thread_id="abc", body=None, expires=None):
    """A request as a sender makes it."""
    return Request(request_id, thread_id, "a test", START, body or Cancel(), expires)


def unseen(store, seconds=1000):
    """Let it look as if no process had shown a sign of life for a while."""
    store._write(lambda db: db.execute("UPDATE processes SET seen = seen - ?", (float(seconds),)))


class MeetingContract:
    """Needs the fixtures `url` and `store`."""

    @pytest.fixture
    def other(self, url, store):
        """The same store, as another process has it."""
        other = open_store(url)
        yield other
        other.close()

    @pytest.fixture
    def abc(self, store):
        """A thread."""
        store.create_thread(a_thread("abc"))
        return "abc"

    # Leases

    def test_a_thread_has_one_owner_until_it_lets_go(self, store, url):
        lease = store.lease("abc")
        assert (lease.name, lease.process) == ("abc", store.process)
        with pytest.raises(ThreadBusy):
            store.lease("abc")
        store.release(store.lease("abd"))
        elsewhere = start(url, "own", "abc")
        assert "ThreadBusy" in elsewhere.communicate(timeout=PATIENCE)[1]
        store.release(lease)
        finish([start(url, "own", "abc")])
        store.lease("abc")

    def test_a_process_that_is_killed_owns_nothing(self, store, url):
        elsewhere = start(url, "own", "abc")
        assert elsewhere.stdout.readline() == "ready\n"
        with pytest.raises(ThreadBusy, match=f"pid {elsewhere.pid} on {store.process.machine}"):
            store.lease("abc")
        kill(elsewhere)
        store.lease("abc")

    def test_a_store_that_is_closed_gives_its_leases_back(self, store, other):
        other.lease("abc")
        other.lease("abd")
        other.close()
        store.lease("abc")
        store.lease("abd")

    def test_the_fence_grows_with_every_holder(self, store, other):
        fences = []
        for number in range(6):
            holder = (store, other)[number % 2]
            lease = holder.lease("abc")
            fences.append(lease.fence)
            if number != 2:
                holder.release(lease)
            else:
                unseen(other)
        assert fences == sorted(set(fences))

    @pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "a b", "x" * 65, "ä"])
    def test_a_name_that_cannot_be_an_id_is_refused(self, store, name):
        with pytest.raises(StorageProblem):
            store.lease(name)

    def test_who_holds_the_lease_may_write(self, store, abc):
        lease = store.lease(abc)
        rows = some_rows(4)
        store.append(abc, rows[:2], sync=False, lease=lease)
        store.append(abc, rows[2:], sync=True, lease=lease)
        assert list(store.read(abc)) == rows

    def test_who_lost_the_lease_writes_nothing(self, store, other, abc):
        old = other.lease(abc)
        other.append(abc, some_rows(1), sync=False, lease=old)
        unseen(store)
        new = store.lease(abc)
        rows = some_rows(5)
        store.append(abc, rows[1:3], sync=False, lease=new)
        for attempt in (rows[1:2], rows[3:4], []):
            with pytest.raises(LeaseLost):
                other.append(abc, attempt, sync=True, lease=old, activity=Activity(turn=7))
        assert list(store.read(abc)) == rows[:3]
        assert store.states([abc])[abc].activity == Activity()
        other.release(old)
        store.append(abc, rows[3:], sync=False, lease=new)
        assert list(store.read(abc)) == rows

    def test_who_gave_the_lease_back_writes_nothing(self, store, abc):
        lease = store.lease(abc)
        store.release(lease)
        with pytest.raises(LeaseLost):
            store.append(abc, some_rows(1), sync=False, lease=lease)
        assert list(store.read(abc)) == []

    def test_renewing_keeps_every_lease_of_the_process(self, store, other):
        for name in ("abc", "abd"):
            other.lease(name)
        unseen(store)
        other.renew()
        for name in ("abc", "abd"):
            with pytest.raises(ThreadBusy):
                store.lease(name)

    def test_a_lease_that_nobody_asked_for_meanwhile_is_not_lost(self, store, other, abc):
        lease = other.lease(abc)
        unseen(store)
        other.append(abc, some_rows(1), sync=False, lease=lease)
        assert len(list(store.read(abc))) == 1

    def test_renewing_names_the_leases_that_another_process_has_now(self, store, other, abc):
        other.lease(abc)
        other.lease("abd")
        unseen(store)
        store.lease(abc)
        assert other.renew() == {abc}

    def test_renewing_without_a_lease_does_nothing(self, store):
        store.renew()
        store.renew()

    def test_a_process_that_was_stopped_past_its_time_is_fenced_off(self, store, url, abc):
        sleeper = start(url, "hold", abc, "0.5")
        assert sleeper.stdout.readline() == "ready\n"
        sleeper.send_signal(signal.SIGSTOP)
        while True:
            try:
                lease = store.lease(abc)
                break
            except ThreadBusy:
                continue
        rows = some_rows(3)
        store.append(abc, rows, sync=False, lease=lease)
        sleeper.send_signal(signal.SIGCONT)
        assert sleeper.communicate("go\n", timeout=PATIENCE)[0] == "LeaseLost\n"
        assert list(store.read(abc)) == rows

    def test_a_process_that_was_stopped_for_a_moment_goes_on(self, store, url, abc):
        sleeper = start(url, "hold", abc, "600")
        assert sleeper.stdout.readline() == "ready\n"
        sleeper.send_signal(signal.SIGSTOP)
        with pytest.raises(ThreadBusy):
            store.lease(abc)
        sleeper.send_signal(signal.SIGCONT)
        assert sleeper.communicate("go\n", timeout=PATIENCE)[0] == "written\n"
        assert list(store.read(abc)) == some_rows(3)

    def test_owners_killed_at_any_moment_leave_one_line_of_history(self, store, url, abc):
        moments = random.Random(5)
        for _ in range(6):
            storms = [start(url, "storm", abc) for _ in range(2)]
            for storm in storms:
                assert storm.stdout.readline() == "ready\n"
            head = store.thread(abc).head
            while store.thread(abc).head < head + 6:
                pass
            for _ in range(moments.randrange(30_000)):
                pass
            for storm in storms:
                kill(storm)
            lease = store.lease(abc)
            newest = next(iter(store.read_back(abc)), None)
            store.append(abc, some_rows(1, after=newest), sync=False, lease=lease)
            store.release(lease)
        assert list(flaws(store.thread(abc), store.read_raw(abc))) == []

    # States

    @pytest.mark.parametrize("owned", [True, False], ids=["owned", "free"])
    @pytest.mark.parametrize(
        ("activity", "asked", "busy", "free"),
        [
            (None, 0, "idle", "idle"),
            (Activity(), 2, "queued", "queued"),
            (Activity(queued=("in_1",)), 0, "queued", "queued"),
            (Activity(turn=2, step=3, since="t"), 0, "running", "idle"),
            (Activity(turn=2, step=3), 1, "running", "queued"),
            (Activity(turn=2, queued=("in_1",)), 0, "running", "queued"),
            (Activity(turn=2, waiting=WAITING), 0, "waiting", "waiting"),
            (Activity(turn=2, waiting=WAITING, queued=("in_1",)), 1, "waiting", "waiting"),
        ],
    )
    def test_what_a_thread_is_doing(self, store, other, abc, activity, asked, busy, free, owned):
        lease = other.lease(abc)
        other.append(abc, some_rows(1), sync=False, lease=lease, activity=activity)
        for number in range(asked):
            store.post(asking(f"rq_{number}"))
        if not owned:
            other.release(lease)
        expected = ThreadState(
            busy if owned else free, other.process if owned else None, activity or Activity(), asked
        )
        assert store.states([abc]) == other.states([abc]) == {abc: expected}

    def test_the_state_of_a_thread_whose_owner_died(self, store, url, abc):
        elsewhere = start(url, "own", abc)
        assert elsewhere.stdout.readline() == "ready\n"
        store.append(abc, some_rows(1), sync=False, activity=Activity(turn=1, since="t"))
        running = store.states([abc])[abc]
        assert (running.state, running.owner.pid) == ("running", elsewhere.pid)
        kill(elsewhere)
        assert store.states([abc])[abc] == ThreadState("idle", None, running.activity)

    @pytest.mark.parametrize("seconds", [1000, -1000])
    def test_an_owner_without_a_sign_of_life_is_none(self, store, other, abc, seconds):
        """Nor is one whose sign is of a time to come: no clock of this store gave it."""
        other.lease(abc)
        unseen(store, seconds)
        assert store.states([abc])[abc].owner is None
        other.renew()
        assert store.states([abc])[abc].owner == other.process

    def test_the_activity_stays_until_another_is_given(self, store, abc):
        rows = some_rows(3)
        activity = Activity(turn=4, step=2, since="t", waiting=WAITING, queued=("in_1", "in_2"))
        store.append(abc, rows[:1], sync=False, activity=activity)
        store.append(abc, rows[1:2], sync=False)
        assert store.states([abc])[abc].activity == activity
        store.append(abc, [], sync=False, activity=Activity())
        assert store.states([abc])[abc].activity == Activity()
        assert store.thread(abc).head == 2

    def test_the_states_of_many_threads(self, store, other):
        names = [f"t{number}" for number in range(10_000)]
        store._write(
            lambda db: db.executemany(
                "INSERT INTO threads (id, title, workspace, origin, created, updated, head, "
                "head_hash) VALUES (?, '', '/srv', 'run', ?, ?, 0, ?)",
                [(name, "2026-01-02T03:04:05.000+00:00", "2026", bytes(32)) for name in names],
            )
        )
        for number in range(0, 10_000, 1000):
            other.lease(names[number])
            store.append(names[number], [], sync=False, activity=Activity(turn=1))
            store.post(asking(f"rq_{number}", names[number + 1]))
        states = store.states([*names, "unknown"])
        assert len(states) == 10_000
        found = {name: state.state for name, state in states.items() if state.state != "idle"}
        assert found == {
            names[number + add]: state
            for number in range(0, 10_000, 1000)
            for add, state in ((0, "running"), (1, "queued"))
        }
        assert store.asked(names) == {names[number] for number in range(1, 10_000, 1000)}

    def test_no_threads_have_no_states(self, store, abc):
        assert store.states([]) == {}
        assert store.asked([]) == set()

    # The inbox

    def test_requests_come_in_order_as_they_were_asked(self, store, other, abc):
        asked = [
            asking("rq_z", body=Send("do “it”")),
            asking("rq_a", body=Queue("later"), expires=LATER.replace(microsecond=0)),
            asking("rq_m", body=Confirm("ask_1", ConfirmResponse("allow", "once"))),
            asking("rq_b", body=Set({"model": "x"})),
        ]
        store.create_thread(a_thread("other"))
        for request in asked:
            store.post(request)
        store.post(asking("rq_o", "other"))
        assert other.requests(abc) == asked
        assert [request.id for request in other.requests("other")] == ["rq_o"]
        assert other.asked([abc, "other", "third"]) == {abc, "other"}
        assert {other.settled(request.id) for request in asked} == {None}

    def test_asking_again_asks_once(self, store, abc):
        store.post(asking("rq_1"))
        store.post(asking("rq_1"))
        assert len(store.requests(abc)) == 1
        store.append(abc, [], sync=False, settled=[Settled("rq_1", "taken")])
        store.post(asking("rq_1"))
        assert store.requests(abc) == []

    def test_a_long_inbox_comes_by_the_page(self, store, abc):
        for number in range(130):
            store.post(asking(f"rq_{number}"))
        page = [request.id for request in store.requests(abc)]
        assert 10 <= len(page) < 130
        assert page == [f"rq_{number}" for number in range(len(page))]

    def test_nothing_is_asked_of_a_thread_that_is_not_there(self, store, abc):
        with pytest.raises(StorageProblem):
            store.post(asking("rq_1", "nowhere"))
        assert store.settled("rq_1") is None
        store.post(asking("rq_1"))
        store.delete_thread(abc)
        assert store.requests(abc) == []
        assert store.asked([abc]) == set()

    @pytest.mark.parametrize("outcome", ["taken", "refused", "expired", "too_late"])
    def test_a_request_is_settled_with_the_log(self, store, other, abc, outcome):
        store.post(asking("rq_1", expires=LATER))
        store.post(asking("rq_2"))
        settled = Settled("rq_1", outcome, "for a reason", {"corr": "in_1"})
        other.append(abc, some_rows(2), sync=True, settled=[settled])
        assert store.settled("rq_1") == settled
        assert [request.id for request in store.requests(abc)] == ["rq_2"]
        assert store.states([abc])[abc].requests == 1
        assert store.expire("rq_1") == settled

    def test_what_is_settled_stays_so_and_nothing_else_is_written(self, store, other, abc):
        for name in ("rq_1", "rq_2"):
            store.post(asking(name))
        first = Settled("rq_1", "taken")
        store.append(abc, some_rows(1), sync=False, settled=[first])
        lease = other.lease(abc)
        for outcome in ("taken", "refused", "expired"):
            again = [Settled("rq_2", "taken"), Settled("rq_1", outcome, "again")]
            with pytest.raises(RequestSettled):
                other.append(
                    abc, some_rows(2)[1:], sync=True, lease=lease, activity=Activity(1),
                    settled=again,
                )  # fmt: skip
        assert store.settled("rq_1") == first
        assert store.settled("rq_2") is None
        assert list(store.read(abc)) == some_rows(1)
        assert store.states([abc])[abc].activity == Activity()

    def test_a_request_of_another_thread_is_not_settled(self, store, abc):
        store.create_thread(a_thread("other"))
        store.post(asking("rq_1", "other"))
        for name in ("rq_1", "rq_unknown"):
            with pytest.raises(RequestSettled):
                store.append(abc, some_rows(1), sync=False, settled=[Settled(name, "taken")])
        assert store.settled("rq_1") is None

    def test_a_request_is_not_taken_after_its_time(self, store, abc):
        store.post(asking("rq_1", expires=BEFORE))
        with pytest.raises(RequestSettled):
            store.append(abc, some_rows(1), sync=False, settled=[Settled("rq_1", "taken")])
        assert [request.expired for request in store.requests(abc)] == [False]
        store.append(abc, some_rows(1), sync=False, settled=[Settled("rq_1", "expired")])
        assert store.requests(abc) == []

    def test_a_sender_may_give_up_and_the_log_says_so_later(self, store, other, abc):
        store.post(asking("rq_1"))
        assert store.expire("rq_1") == Settled("rq_1", "expired")
        assert other.settled("rq_1") == store.expire("rq_1") == Settled("rq_1", "expired")
        assert [(r.id, r.expired) for r in other.requests(abc)] == [("rq_1", True)]
        assert other.asked([abc]) == {abc}
        assert other.states([abc])[abc] == ThreadState("idle")
        for outcome in ("taken", "refused", "too_late"):
            with pytest.raises(RequestSettled):
                other.append(abc, some_rows(1), sync=False, settled=[Settled("rq_1", outcome)])
        other.append(abc, some_rows(1), sync=False, settled=[Settled("rq_1", "expired")])
        assert other.requests(abc) == []
        assert other.asked([abc]) == set()

    def test_a_request_that_was_never_made_cannot_expire(self, store):
        with pytest.raises(StorageProblem):
            store.expire("rq_unknown")

    def test_of_two_that_settle_a_request_one_does(self, store, url, abc):
        names = [f"rq_{number}" for number in range(40)]
        for name in names:
            store.post(asking(name))
        said = finish([start(url, "settle", abc, *names) for _ in range(3)])
        assert sorted(" ".join(said).split()) == sorted(names)
