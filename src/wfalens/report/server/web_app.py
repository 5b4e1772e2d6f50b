"""The web application: each view's data under /api, in front of the same functions that make the report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from wfalens.errors import WfalensError
from wfalens.report import views
from wfalens.report.page import live_html, script, style, to_json
from wfalens.report.server.guard import Guard
from wfalens.report.server.jobs import Jobs, Task
from wfalens.report.server.serve import LOOPBACK
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

    Work whose page has gone, or asks for something else by now, is not begun. A thread cannot be stopped: work that
    timed out keeps its thread until it ends, so that no more than `at_once` ever run.
    """

    def __init__(self, at_once: int, seconds: float) -> None:
        self._pool, self._seconds, self._waiting = ThreadPoolExecutor(at_once, "wfalens-lane"), seconds, 0
        self._turn = asyncio.Semaphore(at_once)

    async def answer(self, request: Request, work: Callable[[], Any]) -> Response:
        if self._waiting >= _WAITING:
            raise HTTPException(503, "too many requests at once; try again in a moment")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._seconds), self._turn:
                if await request.is_disconnected():
                    raise HTTPException(499, "nobody waits for this any more")
                return answered(await asyncio.get_running_loop().run_in_executor(self._pool, work))
        except TimeoutError:
            raise HTTPException(503, "this took too long and was stopped") from None
        finally:
            self._waiting -= 1

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def create_app(study: Study, token: str, hosts: tuple[str, ...] = LOOPBACK) -> FastAPI:
    """The live page of one automaton, for whoever has the token.

    What takes seconds is a job; the page asks until it is done.
    """
    tasks: dict[str, Task] = {name: partial(view, study) for name, view in views.JOBS.items()}
    jobs = Jobs(tasks | {"fidelity": partial(views.fidelity, study, _MEASURED_TEXTS)})
    quick, slow = Lane(_QUICK_AT_ONCE, _QUICK), Lane(_SLOW_AT_ONCE, _SLOW)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if study.model is not None and study.corpus is not None:
            for name in ("opinion", "fidelity"):
                jobs.begin(name)
        yield
        for worker in (jobs, quick, slow):
            worker.close()

    app = FastAPI(
        title="wfalens", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False, lifespan=lifespan
    )
    app.add_middleware(Guard, token=token, hosts=hosts)
    for kind in (WfalensError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _failed)
    _add_page(app, live_html(f"{study.name} – wfalens"))
    _add_views(app, study, quick, slow)
    _add_jobs(app, jobs)
    return app


def _add_page(app: FastAPI, page: str) -> None:
    """The page, its script and its style."""

    async def answer(_request: Request, *, content: str, kind: str) -> Response:
        return Response(content, media_type=f"text/{kind}")

    for path, content, kind in (
        ("/", page, "html"),
        ("/page.js", script(), "javascript"),
        ("/page.css", style(), "css"),
    ):
        app.add_route(path, partial(answer, content=content, kind=kind))


def _add_views(app: FastAPI, study: Study, quick: Lane, slow: Lane) -> None:
    """Views that are answered at once."""
    table, overview = WordTable(study), views.overview(study)

    @app.get("/api/overview")
    async def _overview() -> Response:
        return answered(overview)

    @app.post("/api/trace")
    async def _trace(request: Request, sentence: Sentence) -> Response:
        return await quick.answer(request, lambda: views.trace(study, sentence.text))

    @app.post("/api/attribution")
    async def _attribution(request: Request, sentence: Sentence) -> Response:
        return await slow.answer(request, lambda: views.attribution(study, sentence.text))

    @app.post("/api/counterfactuals")
    async def _counterfactuals(request: Request, sentence: Sentence) -> Response:
        return await slow.answer(request, lambda: views.counterfactuals(study, sentence.text))

    @app.get("/api/measured")
    async def _measured(request: Request) -> Response:
        return await slow.answer(request, lambda: views.measured(study))

    @app.get("/api/words")
    async def _words(
        request: Request,
        query: Annotated[str, Query(max_length=MAX_WORD)] = "",
        towards: Annotated[str, Query(max_length=MAX_TEXT)] = "",
        sort: Annotated[str, Query(max_length=MAX_WORD)] = "strength",
        falling: bool = True,
        min_count: Annotated[int, Query(ge=1, le=10**9)] = 1,
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
    ) -> Response:
        order: dict[str, Any] = {"towards": towards, "sort": sort, "falling": falling, "min_count": min_count}
        return await quick.answer(request, lambda: table.find(query, **order, offset=offset, limit=limit))

    @app.get("/api/word")
    async def _word(request: Request, word: Word) -> Response:
        return await slow.answer(request, lambda: views.word_page(study, word))

    @app.get("/api/opinion")
    async def _opinion(request: Request, name: Annotated[str, Query(max_length=MAX_TEXT)]) -> Response:
        return await slow.answer(request, lambda: views.opinion(study, [name]))


def _add_jobs(app: FastAPI, jobs: Jobs) -> None:
    """Views that are made in the background."""

    def known(name: str) -> str:
        if name not in jobs.tasks:
            raise HTTPException(404, "there is no such view")
        return name

    @app.get("/api/job/{name}")
    async def _job(name: str) -> Response:
        return answered(jobs.answer(known(name)))

    @app.post("/api/job/{name}/cancel")
    async def _cancel(name: str) -> Response:
        jobs.cancel(known(name))
        return answered({"state": "cancelled"})


def answered(result: Any, status: int = 200) -> Response:
    return Response(to_json(result), status, media_type="application/json")


async def _failed(_request: Request, error: Exception) -> Response:
    """A sentence; of an invalid request which part of it is wrong, without what was sent."""
    status, message = 400, str(error)
    if isinstance(error, HTTPException):
        status, message = error.status_code, str(error.detail) or "refused"
    elif isinstance(error, RequestValidationError):
        status = 422
        message = "; ".join(f"{'.'.join(map(str, item['loc'][1:]))}: {item['msg']}" for item in error.errors())
    return answered({"error": message or "the request cannot be read"}, status)
