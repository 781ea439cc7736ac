import asyncio
import threading

import pytest

from envace_sdk.errors import ModelError
from envace_sdk.models.worker import Worker


def doubling(jobs):
    for job in jobs:
        job.done(job.asked * 2)


def test_answers_come_in_the_order_of_the_questions():
    async def run():
        worker = Worker(doubling, 3, name="test")
        answers = await worker.do(range(10))
        await worker.close()
        return answers

    assert asyncio.run(run()) == [2 * each for each in range(10)]


def test_what_waits_together_is_done_together():
    batches, started, go = [], threading.Event(), threading.Event()

    def slow(jobs):
        batches.append([job.asked for job in jobs])
        started.set()
        go.wait(10)
        doubling(jobs)

    async def run():
        worker = Worker(slow, 4, name="test")
        first = asyncio.ensure_future(worker.do([0]))
        await asyncio.to_thread(started.wait, 10)
        others = [asyncio.ensure_future(worker.do([each])) for each in range(1, 7)]
        await asyncio.sleep(0)
        go.set()
        answers = await asyncio.gather(first, *others)
        await worker.close()
        return answers

    assert asyncio.run(run()) == [[2 * each] for each in range(7)]
    assert batches == [[0], [1, 2, 3, 4], [5, 6]]


def test_the_event_loop_runs_on_while_a_batch_is_done():
    go = threading.Event()

    def waiting(jobs):
        assert go.wait(10), "the loop did not get to set it"
        doubling(jobs)

    async def run():
        worker = Worker(waiting, 4, name="test")
        answer = asyncio.ensure_future(worker.do([1]))
        await asyncio.sleep(0)
        go.set()
        result = await answer
        await worker.close()
        return result

    assert asyncio.run(run()) == [2]


def test_an_error_reaches_who_asked_and_the_worker_goes_on():
    def failing(jobs):
        if any(job.asked == "bad" for job in jobs):
            raise ZeroDivisionError("oh")
        doubling(jobs)

    async def run():
        worker = Worker(failing, 1, name="test")
        with pytest.raises(ZeroDivisionError):
            await worker.do(["bad"])
        answer = await worker.do(["good"])
        await worker.close()
        return answer

    assert asyncio.run(run()) == ["goodgood"]


def test_who_is_cancelled_abandons_the_job():
    started, seen = threading.Event(), []

    def until_abandoned(jobs):
        started.set()
        for _ in range(10_000):
            if jobs[0].abandoned():
                seen.append(True)
                return
            threading.Event().wait(0.001)

    async def run():
        worker = Worker(until_abandoned, 1, name="test")
        task = asyncio.ensure_future(worker.do([1]))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await worker.close()

    asyncio.run(run())
    assert seen == [True]


def test_a_closed_worker_takes_nothing_more_and_may_be_closed_again():
    async def run():
        worker = Worker(doubling, 1, name="test")
        assert await worker.do([1]) == [2]
        await worker.close()
        await worker.close()
        with pytest.raises(ModelError, match="closed"):
            await worker.do([1])

    asyncio.run(run())


def test_a_worker_serves_several_event_loops():
    worker = Worker(doubling, 2, name="test")
    for _ in range(2):
        assert asyncio.run(worker.do([1, 2, 3])) == [2, 4, 6]
    asyncio.run(worker.close())
