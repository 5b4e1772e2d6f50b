"""The web application: each view's data under /api, in front of the same functions that make the report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from wfalens.errors import InputError, WfalensError
from wfalens.report import views
from wfalens.report.page import live_html, script, style, to_json
from wfalens.report.server.guard import LOOPBACK, Guard
from wfalens.report.server.jobs import Jobs, Task
from wfalens.report.study import Study
from wfalens.report.views import WordTable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MAX_TEXT, MAX_WORD = 10_000, 200  # characters
_MEASURED_TEXTS = 3000
_QUICK, _SLOW = 10.0, 60.0  # seconds that an answer may take
_QUICK_AT_ONCE, _SLOW_AT_ONCE, _WAITING = 4, 1, 64

Word = Annotated[str, Query(min_length=1, max_length=MAX_WORD)]


class Sentence(BaseModel):
    text: str = Field(max_length=MAX_TEXT)


class Lane:
    """Runs work outside the event loop; limits how much runs at once, how much waits, and how long each takes.

    A thread cannot be stopped: work that timed out keeps its thread until it ends, so that no more than `at_once`
    ever run.
    """

    def __init__(self, at_once: int, seconds: float) -> None:
        self._pool, self._seconds, self._waiting = ThreadPoolExecutor(at_once, "wfalens-lane"), seconds, 0

    async def answer(self, work: Callable[[], Any]) -> Response:
        if self._waiting >= _WAITING:
            raise HTTPException(503, "too many requests at once; try again in a moment")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._seconds):
                return answered(await asyncio.get_running_loop().run_in_executor(self._pool, work))
        except TimeoutError:
            raise HTTPException(503, "this took too long and was stopped") from None
        finally:
            self._waiting -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def create_app(study: Study, hosts: tuple[str, ...] = LOOPBACK) -> FastAPI:
    """The live page of one automaton. What takes seconds is a job; the page asks until it is done."""
    jobs, quick, slow = Jobs(_tasks(study)), Lane(_QUICK_AT_ONCE, _QUICK), Lane(_SLOW_AT_ONCE, _SLOW)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if study.model is not None and study.corpus is not None:
            jobs.begin("fidelity")
        yield
        for worker in (jobs, quick, slow):
            worker.close()

    app = FastAPI(
        title="wfalens", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False, lifespan=lifespan
    )
    app.add_middleware(Guard, hosts=hosts)
    app.add_exception_handler(WfalensError, _sentence)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    _add_page(app, live_html(f"{study.name} – wfalens"))
    _add_views(app, study, quick, slow)
    _add_jobs(app, jobs)
    return app


def _add_page(app: FastAPI, page: str) -> None:
    """The page, its script and its style."""

    @app.get("/")
    async def _page() -> Response:
        return Response(page, media_type="text/html")

    @app.get("/page.js")
    async def _script() -> Response:
        return Response(script(), media_type="text/javascript")

    @app.get("/page.css")
    async def _style() -> Response:
        return Response(style(), media_type="text/css")


def _add_views(app: FastAPI, study: Study, quick: Lane, slow: Lane) -> None:
    """Views that are answered at once."""
    state_map, table, overview = _map_or_reason(study), WordTable(study), views.overview(study)

    def the_map() -> views.StateMap:
        if isinstance(state_map, str):
            raise InputError(state_map)
        return state_map

    @cache
    def drawn() -> dict[str, Any]:
        return the_map().to_dict()

    @app.get("/api/overview")
    async def _overview() -> Response:
        return answered(overview)

    @app.get("/api/map")
    async def _map() -> Response:
        return await quick.answer(drawn)

    @app.get("/api/moves")
    async def _moves(word: Word) -> Response:
        return await quick.answer(lambda: the_map().word_moves(word))

    @app.post("/api/trace")
    async def _trace(sentence: Sentence) -> Response:
        return await quick.answer(lambda: views.trace(study, sentence.text))

    @app.post("/api/attribution")
    async def _attribution(sentence: Sentence) -> Response:
        return await slow.answer(lambda: views.attribution(study, sentence.text))

    @app.post("/api/counterfactuals")
    async def _counterfactuals(sentence: Sentence) -> Response:
        return await slow.answer(lambda: views.counterfactuals(study, sentence.text))

    @app.get("/api/words")
    async def _words(
        query: Annotated[str, Query(max_length=MAX_WORD)] = "",
        sort: Annotated[str, Query(max_length=MAX_WORD)] = "strength",
        falling: bool = True,
        min_count: Annotated[int, Query(ge=1, le=10**9)] = 1,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
    ) -> Response:
        return await quick.answer(
            lambda: table.find(query, sort=sort, falling=falling, min_count=min_count, offset=offset, limit=limit)
        )

    @app.get("/api/word")
    async def _word(word: Word) -> Response:
        return await slow.answer(lambda: views.word_page(study, word))

    @app.get("/api/swaps")
    async def _swaps(first: Word, second: Word) -> Response:
        return await slow.answer(lambda: views.swaps(study, first, second))


def _add_jobs(app: FastAPI, jobs: Jobs) -> None:
    """Views that are made in the background."""

    @app.get("/api/job/{name}")
    async def _job(name: str) -> Response:
        if name not in jobs.names:
            raise HTTPException(404, "there is no such view")
        return answered(jobs.answer(name))

    @app.post("/api/job/{name}/cancel")
    async def _cancel(name: str) -> Response:
        if name not in jobs.names:
            raise HTTPException(404, "there is no such view")
        jobs.cancel(name)
        return answered({"state": "cancelled"})


def answered(result: Any, status: int = 200) -> Response:
    return Response(to_json(result), status, media_type="application/json")


def _tasks(study: Study) -> dict[str, Task]:
    return {
        "fidelity": lambda: views.fidelity(study, _MEASURED_TEXTS),
        "sentences": lambda: views.sentences(study),
        "word_map": lambda: views.word_map(study),
        "contrast": lambda: views.contrast(study),
        "attacks": lambda: views.attacks(study),
        "comparison": lambda: views.comparison(study),
        "texts": lambda: views.texts(study),
    }


def _map_or_reason(study: Study) -> views.StateMap | str:
    try:
        return views.state_map(study)
    except InputError as error:
        return str(error)


async def _sentence(_request: Request, error: Exception) -> Response:
    return answered({"error": str(error)}, 400)


async def _invalid(_request: Request, error: Exception) -> Response:
    """Which part of the request is wrong; what was sent is not sent back."""
    found = error.errors() if isinstance(error, RequestValidationError) else []
    errors = [f"{'.'.join(str(name) for name in item['loc'][1:])}: {item['msg']}" for item in found]
    return answered({"error": "; ".join(errors) or "the request cannot be read"}, 422)


async def _refused(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return answered({"error": str(getattr(error, "detail", "")) or "refused"}, status)
