"""What every store promises to those who listen to other processes."""

import asyncio

from steersman.records.inbox import Settled
from tests.store.elsewhere import PATIENCE, open_store, start
from tests.store.made import a_thread, some_rows
from tests.store.meeting import asking


async def heard(news, wanted):
    """Listen until a thread is named, or any may be meant."""
    async with asyncio.timeout(PATIENCE):
        while True:
            threads = (await news.next()).threads
            if threads is None or wanted in threads:
                return


async def pieces(news):
    """Listen until live pieces arrive."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await news.next()
            if found.live:
                return found.live


async def anything(news):
    """Listen until something happened, nobody knows where."""
    async with asyncio.timeout(PATIENCE):
        while (await news.next()).threads is not None:
            pass


def act(process):
    """Let a deed elsewhere happen, to its end."""
    assert process.stdout.readline() == "ready\n"
    out, err = process.communicate("go\n", timeout=PATIENCE)
    assert process.returncode == 0, out + err


class NewsContract:
    """Needs the fixtures `url` and `store`."""

    def test_what_another_process_asks_is_heard(self, store, url):
        store.create_thread(a_thread("abc"))
        elsewhere = start(url, "post", "abc", "rq_1")

        async def listen():
            async with store.news() as news:
                await asyncio.to_thread(act, elsewhere)
                await heard(news, "abc")
                assert [request.id for request in store.requests("abc")] == ["rq_1"]

        asyncio.run(listen())

    def test_every_deed_in_a_thread_is_heard_by_all_others_who_listen(self, store, url):
        store.create_thread(a_thread("abc"))
        other, third = open_store(url), open_store(url)
        deeds = [
            lambda: other.append("abc", some_rows(1), sync=False),
            lambda: other.post(asking("rq_1")),
            lambda: other.post(asking("rq_2")),
            lambda: other.append("abc", [], sync=False, settled=[Settled("rq_1", "taken")]),
            lambda: other.expire("rq_2"),
            lambda: other.describe("abc", title="new", workspace=None),
            lambda: other.delete_thread("abc"),
        ]

        async def listen():
            async with store.news() as first, store.news() as second, third.news() as last:
                for deed in deeds:
                    await asyncio.to_thread(deed)
                    for news in (first, second, last):
                        await heard(news, "abc")

        asyncio.run(listen())
        other.close()
        third.close()

    def test_live_pieces_reach_others_whole_and_are_not_kept(self, store, url):
        store.create_thread(a_thread("abc"))
        elsewhere = [start(url, "show", "abc", str(size)) for size in (256, 512_000)]

        async def listen():
            async with store.news() as news:
                for process, size in zip(elsewhere, (256, 512_000), strict=True):
                    await asyncio.to_thread(act, process)
                    assert await pieces(news) == (("abc", bytes(range(256)) * (size // 256)),)

        asyncio.run(listen())
        assert list(store.read("abc")) == []

    def test_what_this_process_does_is_no_news(self, store, url):
        store.create_thread(a_thread("abc"))
        other = open_store(url)

        async def listen():
            async with store.news() as news:
                store.append("abc", some_rows(1), sync=False)
                store.show("abc", b"mine")
                await asyncio.to_thread(other.show, "abc", b"yours")
                assert await pieces(news) == (("abc", b"yours"),)

        asyncio.run(listen())
        other.close()

    def test_showing_without_listeners_does_nothing(self, store):
        store.show("abc", b"x" * 300_000)

    def test_listeners_that_died_are_in_nobodys_way(self, store, url):
        store.create_thread(a_thread("abc"))
        other = open_store(url)

        async def abandon():
            listening = other.news()
            await listening.__aenter__()
            return listening

        async def listen():
            gone = await abandon()
            async with store.news() as news:
                await asyncio.to_thread(act, start(url, "post", "abc", "rq_1"))
                await heard(news, "abc")
            await gone.__aexit__(None, None, None)

        asyncio.run(listen())
        other.close()

    def test_a_burst_is_heard_to_its_end(self, store, url):
        names = [f"t{number}" for number in range(60)]
        for name in names:
            store.create_thread(a_thread(name))
        other = open_store(url)

        async def listen():
            async with store.news() as news:
                for name in names:
                    other.post(asking(f"rq_{name}", name))
                left = set(names)
                async with asyncio.timeout(PATIENCE):
                    while left:
                        threads = (await news.next()).threads
                        left = set() if threads is None else left - threads

        asyncio.run(listen())
        other.close()

    def test_a_change_without_a_signal_is_heard_of_too(self, store, url):
        other = open_store(url)

        async def listen():
            async with store.news() as news:
                await asyncio.to_thread(other.remember, "a", "b", "c")  # names no thread
                await anything(news)

        asyncio.run(listen())
        other.close()
