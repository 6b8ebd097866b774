"""A program that runs for long goes on when the server has not what it takes for a while."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from omd.programs.service.loop import Loop

if TYPE_CHECKING:
    from collections.abc import Iterator


def connected(*errors: psycopg.Error | None) -> list[str]:
    """Connect and lose it, once for each of `errors`, which the next connection raises."""
    loop = Loop(lambda _: None)
    done: list[str] = []
    left = [None, *errors]  # the next one is made when the list is empty

    @contextmanager
    def connect() -> Iterator[str]:
        if left and (error := left.pop(0)) is not None:
            done.append(type(error).__name__)
            raise error
        yield "it"

    def serve(_: str) -> None:
        done.append("served")
        if left:
            raise psycopg.errors.lookup("53100")("no space")

    loop.stay_connected(connect, serve, lambda: None)
    return done


@pytest.mark.parametrize("code", ["53100", "57014", "57P03", "55P03"])
def test_an_error_that_passes_is_waited_for(code: str) -> None:
    error = psycopg.errors.lookup(code)("for a while")
    assert connected(error) == ["served", type(error).__name__, "served"]


@pytest.mark.parametrize("code", ["42501", "3D000", "22012"])
def test_any_other_error_ends_the_program(code: str) -> None:
    with pytest.raises(psycopg.errors.lookup(code)):
        connected(psycopg.errors.lookup(code)("it stays"))


def test_the_first_connection_must_be_made() -> None:
    loop = Loop(lambda _: None)

    @contextmanager
    def connect() -> Iterator[str]:
        raise psycopg.errors.lookup("53300")("too many")
        yield ""

    with pytest.raises(psycopg.errors.TooManyConnections):
        loop.stay_connected(connect, lambda _: None, lambda: None)
