"""Spans of OpenTelemetry around blocks, where its API can be imported; otherwise nothing is done.

A span has ids, codes, counts and a status, and never the text of an error: that may hold rows.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Mapping
from typing import Any

_log = logging.getLogger("omd.spans")

_PREFIX = "omd."
_CARRIED = ("traceparent", "tracestate")  # of W3C Trace Context; a variable has capitals


class Span:
    """A span that is the current one of its thread until it ends."""

    def __init__(self, api: Any, name: str, above: Span | None, context: Mapping[str, Any]) -> None:
        self._api = api
        self._span = api.tracer().start_span(_PREFIX + name, context=api.parent(above, context))
        self._token = api.context.attach(api.trace.set_span_in_context(self._span))

    @property
    def context(self) -> Any:
        """What spans below it begin with."""
        return self._api.trace.set_span_in_context(self._span)

    def end(self, attributes: Mapping[str, Any], error: BaseException | None) -> None:
        """End the span.

        Args:
            attributes: its attributes, without their prefix; those without a value are left out.
            error: what failed.
        """
        try:
            for name, value in attributes.items():
                if value is not None:
                    self._span.set_attribute(_PREFIX + name, value)
            if error is not None:
                status = self._api.trace.StatusCode.ERROR
                self._span.set_status(status, type(error).__qualname__)
            self._span.end()
        except Exception:  # noqa: BLE001 - no run fails because somebody looks at it
            _log.debug("a span was not ended", exc_info=True)
        finally:
            self._api.context.detach(self._token)


class _Api:
    """The parts of the API that are used."""

    def __init__(self) -> None:
        from opentelemetry import context, trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self.context = context
        self.trace = trace
        self._propagator = TraceContextTextMapPropagator()

    def tracer(self) -> Any:
        """Return the tracer of the provider that the process has now."""
        return self.trace.get_tracer("pgomd")

    def parent(self, above: Span | None, context: Mapping[str, Any]) -> Any:
        """Return where a span begins: the current span, the block above, or who called."""
        if self.trace.get_current_span().get_span_context().is_valid:
            return None
        if above is not None:
            return above.context
        carried = {key: context.get(key) or os.environ.get(key.upper()) for key in _CARRIED}
        return self._propagator.extract({k: v for k, v in carried.items() if isinstance(v, str)})


@functools.cache
def _api() -> _Api | None:
    try:
        return _Api()
    except ImportError:
        return None


def begin(name: str, above: Span | None, context: Mapping[str, Any]) -> Span | None:
    """Begin a span; None where the API can't be imported.

    Args:
        name: of the span, without its prefix.
        above: the span of the block above; the current span of the thread comes first.
        context: the execution context of the block; it may have a traceparent, as the environment
            may.
    """
    api = _api()
    if api is None:
        return None
    try:
        return Span(api, name, above, context)
    except Exception:  # noqa: BLE001 - no run fails because somebody looks at it
        _log.debug("a span was not begun", exc_info=True)
        return None
