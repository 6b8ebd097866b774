"""OpenLineage events, sent by the configuration and the transports of the official client.

The client makes and sends an event in one go. Here the database has made it, so a transport gets
the text as it is: by its own session, producer or file, once, and with the answer that says
whether it has arrived.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urljoin

import requests
from openlineage.client import OpenLineageClient
from openlineage.client.filter import Filter, create_filter
from openlineage.client.transport import Transport as ClientTransport
from openlineage.client.transport.composite import CompositeTransport
from openlineage.client.transport.console import ConsoleTransport
from openlineage.client.transport.file import FileTransport
from openlineage.client.transport.http import HttpCompression, HttpTransport
from openlineage.client.transport.kafka import KafkaTransport

from omd._core.error_codes import TransportUnfit
from omd._core.errors import OmdError
from omd.programs.sender.sender import Outcome, Refused, Settled, Wait, http_outcome

if TYPE_CHECKING:
    from omd.rooms.event.rows import TakeEventsRow

SINK = "openlineage"
"""The code of the sink."""

_HINT = "http, file, console, kafka, or composite with continue_on_failure: false"
_KAFKA_TIMEOUT = 10.0  # seconds until a delivery report must be there
_LONGEST_ANSWER = 65536  # bytes that are read of an answer
# With it the session of the client sends once; the pause is that of the sink.
_ONCE = {"total": 0, "connect": 0, "read": 0, "redirect": 0, "status": 0, "other": 0}


def is_disabled() -> bool:
    """Return whether OPENLINEAGE_DISABLED says that nothing is to be sent."""
    return os.environ.get("OPENLINEAGE_DISABLED", "").lower().strip() == "true"


Show = Callable[[str], None]


class OpenLineage:
    """The transport of the client, as a transport of a sender.

    Args:
        client: the client; by default one that is configured as it says itself.
        show: prints an event, for the transport console.

    Raises:
        TransportUnfit: the transport does not say whether an event has arrived.
    """

    def __init__(self, client: OpenLineageClient | None = None, *, show: Show = print) -> None:
        self._client = OpenLineageClient() if client is None else client
        filters = (create_filter(config) for config in self._client.config.filters)
        self._filters: list[Filter] = [f for f in filters if f is not None]
        try:
            self._ways = _ways(self._client.transport, show)
        except TransportUnfit:
            self._client.close(0)
            raise

    @property
    def timeout(self) -> float:
        """The seconds after which one send is over, whatever happens."""
        return sum(way.timeout for way in self._ways)

    @property
    def kind(self) -> str:
        """The kind of the transport."""
        return str(self._client.transport.kind)

    def send(self, event: TakeEventsRow) -> Outcome:
        """Send an event; what a composite transport refuses in one place goes to the others."""
        message = _Message(event.body)
        if self._filters and self._is_filtered(message):
            return Settled()
        refused: Outcome | None = None
        for way in self._ways:
            outcome = way.send(message)
            if isinstance(outcome, Wait):
                return outcome
            if isinstance(outcome, Refused):
                refused = outcome
        return refused or Settled()

    def close(self) -> None:
        """Close the transport."""
        self._client.close(0)

    def _is_filtered(self, message: _Message) -> bool:
        event: Any = SimpleNamespace(job=SimpleNamespace(name=message.content["job"]["name"]))
        return any(f.filter_event(event) is None for f in self._filters)


class _Message:
    """An event as the database has made it; who needs its parts has it parsed."""

    def __init__(self, body: str) -> None:
        self.body = body

    @cached_property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.body)
        return content


class _Way(Protocol):
    """How a message goes through one transport."""

    @property
    def timeout(self) -> float: ...

    def send(self, message: _Message) -> Outcome: ...


def _ways(transport: ClientTransport, show: Show) -> Sequence[_Way]:
    made = _WAYS.get(type(transport))  # a class that is derived from one of them may do anything
    if made is not None:
        return [made(transport, show)]
    if type(transport) is CompositeTransport:
        composite: CompositeTransport = transport
        if composite.config.continue_on_failure:
            raise _unfit(
                "composite",
                "with continue_on_failure: true it does not say which of its transports has failed",
            )
        parts = composite.transports
        if not composite.config.continue_on_success:
            parts = parts[:1]  # without a failure the first one ends it
        return [way for part in parts for way in _ways(part, show)]
    raise _unfit(
        str(transport.kind or type(transport).__name__),
        "it does not say whether an event has arrived",
    )


def _unfit(transport: str, problem: str) -> OmdError:
    return TransportUnfit(
        f"the transport {transport} is not used: {problem}",
        hint=_HINT,
        detail={"transport": transport, "problem": problem},
    )


class _Http:
    """A POST by the session of the client.

    What is the same for all requests (headers, proxies, certificates) is made once: that is a third
    of what a request costs.
    """

    def __init__(self, transport: HttpTransport, _show: Show) -> None:
        transport.config.retry = dict(_ONCE)
        self._transport = transport
        self._config = transport.config
        self._session = transport.session
        headers = {"Content-Type": "application/json", **self._config.custom_headers}
        if self._config.compression is HttpCompression.GZIP:
            headers["Content-Encoding"] = "gzip"
        url = urljoin(transport.url, transport.endpoint)
        self._request = self._session.prepare_request(requests.Request("POST", url, headers))
        self._settings: dict[str, Any] = self._session.merge_environment_settings(
            self._request.url or url, {}, True, transport.verify, transport.cert
        )

    @property
    def timeout(self) -> float:
        return float(self._transport.timeout)

    def send(self, message: _Message) -> Outcome:
        data = message.body.encode()
        if self._config.compression is HttpCompression.GZIP:
            data = gzip.compress(data, mtime=0)
        request = self._request.copy()
        request.body = data
        request.headers["Content-Length"] = str(len(data))
        try:
            bearer = self._config.auth.get_bearer()
        except Exception as error:  # noqa: BLE001 - a token server may fail in any way
            return Wait(f"there is no token: {type(error).__name__}")
        if bearer and "Authorization" not in self._config.custom_headers:
            request.headers["Authorization"] = bearer
        try:
            # A redirect of a POST ends as a GET, whose success would mean nothing.
            with self._session.send(
                request, timeout=self._transport.timeout, allow_redirects=False, **self._settings
            ) as response:
                answer = response.raw.read(_LONGEST_ANSWER, decode_content=True)
                return http_outcome(
                    response.status_code,
                    answer.decode(errors="replace"),
                    response.headers.get("Retry-After"),
                )
        except requests.RequestException as error:
            return Wait(type(error).__name__)


class _Kafka:
    """One message, whose delivery report is waited for."""

    def __init__(self, transport: KafkaTransport, _show: Show) -> None:
        self._transport = transport

    timeout = _KAFKA_TIMEOUT

    def send(self, message: _Message) -> Outcome:
        import confluent_kafka

        producer: Any = self._transport.producer
        reports: list[Any] = []
        try:
            producer.produce(
                topic=self._transport.topic,
                key=self._transport.message_key or _root_job(message.content),
                value=message.body.encode(),
                on_delivery=lambda error, _: reports.append(error),
            )
            producer.flush(_KAFKA_TIMEOUT)
            if not reports:  # nothing may come later than the event after it
                producer.purge()
                producer.flush(_KAFKA_TIMEOUT)
                return Wait(f"Kafka has not answered within {_KAFKA_TIMEOUT:g} s")
            error = reports[0]
        except confluent_kafka.KafkaException as exception:
            error = exception.args[0]
        except BufferError:
            return Wait("the buffer of the producer is full")
        if error is None:
            return Settled()
        if error.code() == confluent_kafka.KafkaError.MSG_SIZE_TOO_LARGE:
            return Refused(413, error.name())
        return Wait(f"Kafka: {error.name()}")


def _root_job(content: dict[str, Any]) -> str:
    """Return the key that the client gives to a run: what belongs together stays in order."""
    parent = content["run"].get("facets", {}).get("parent")
    job = content["job"]
    if parent is not None:
        job = parent.get("root", parent)["job"]
    return f"run:{job['namespace']}/{job['name']}"


class _File:
    """A line of a file, or a file, which the client writes."""

    timeout = 0.0

    def __init__(self, transport: FileTransport, _show: Show) -> None:
        self._transport = transport

    def send(self, message: _Message) -> Outcome:
        try:
            self._transport.emit(message.content)  # type: ignore[arg-type] # it takes whatever has fields
        except RuntimeError as error:
            cause = error.__cause__ or error
            return Wait(getattr(cause, "strerror", None) or type(cause).__name__)
        return Settled()


class _Console:
    """A line of the standard output."""

    timeout = 0.0

    def __init__(self, _transport: ConsoleTransport, show: Show) -> None:
        self._show = show

    def send(self, message: _Message) -> Outcome:
        self._show(message.body)
        return Settled()


_WAYS: dict[type[ClientTransport], Callable[[Any, Show], _Way]] = {
    HttpTransport: _Http,
    KafkaTransport: _Kafka,
    FileTransport: _File,
    ConsoleTransport: _Console,
}
