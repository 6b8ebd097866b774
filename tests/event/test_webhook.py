"""One event to one webhook: what is sent, what the answer means, and what may be sent where."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from event.webhook_receiver import Request, answers, receiving
from omd.programs.sender.dialing import NotPublic, dial, is_public
from omd.programs.sender.sender import Outcome, Refused, Settled, Wait
from omd.programs.sender.webhook import Webhook, is_below, signed
from omd.rooms.event.rows import TakeEventsRow

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from http.server import BaseHTTPRequestHandler

CLOUD = '{"specversion": "1.0", "id": "i/RUN_FAILED/7/20261126T000000000001Z", "data": {"é": 1}}'
TEXT = '{"text": "Module m has failed"}'
HOOK = "OMD_SECRET_HOOK"
KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def event(body: str = CLOUD, number: int = 5) -> TakeEventsRow:
    moment = datetime(2026, 11, 26, 1, 2, 3, 4, tzinfo=timezone.utc)
    return TakeEventsRow(number, "RUN_FAILED", "MODULE", 7, "m", moment, body)


def webhook(url: str, **arguments: Any) -> Webhook:
    """Return a webhook that may post to this address of the host."""
    return Webhook(url, **{"allowed": [url], **arguments})


def test_the_body_arrives_as_it_is_with_its_id_and_type() -> None:
    with receiving() as receiver:
        assert webhook(receiver.url).send(event()) == Settled()
        assert webhook(receiver.url, format="TEXT").send(event(TEXT)) == Settled()
    cloud, text = receiver.requests
    assert (cloud.path, cloud.body) == ("/hook/T0KEN?q=1", CLOUD)
    assert cloud.headers["content-type"] == "application/cloudevents+json; charset=utf-8"
    assert cloud.headers["webhook-id"] == "i/RUN_FAILED/7/20261126T000000000001Z"
    assert text.headers["content-type"] == "application/json"
    assert text.headers["webhook-id"] == "5/RUN_FAILED/7/20261126T010203000004Z"
    assert "webhook-signature" not in cloud.headers


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_success_settles(status: int) -> None:
    with receiving(answers(status)) as receiver:
        assert webhook(receiver.url).send(event()) == Settled()


@pytest.mark.parametrize("status", [400, 413, 422])
def test_the_fault_of_the_event_refuses_it(status: int) -> None:
    with receiving(answers(status, "why")) as receiver:
        assert webhook(receiver.url).send(event()) == Refused(status, "why")


@pytest.mark.parametrize("status", [401, 403, 404, 408, 410, 500, 502, 503])
def test_anything_else_is_a_problem_of_the_sink(status: int) -> None:
    with receiving(answers(status, "secret")) as receiver:
        assert webhook(receiver.url).send(event()) == Wait(f"HTTP {status}")


def test_a_receiver_says_when_it_wants_more() -> None:
    with receiving(answers(429, Retry_After="7")) as receiver:
        assert webhook(receiver.url).send(event()) == Wait("HTTP 429", 7.0)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with receiving() as other, receiving(answers(status, Location=other.url)) as receiver:
        assert webhook(receiver.url).send(event()) == Wait(f"HTTP {status}")
        assert len(receiver.requests) == 1
        assert other.requests == []


def test_nobody_there_is_a_problem() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    outcome = webhook(f"http://127.0.0.1:{port}/hook").send(event())
    assert isinstance(outcome, Wait)
    assert outcome.problem.startswith("no connection: ")


def test_what_is_no_http_is_a_problem() -> None:
    def nonsense(handler: BaseHTTPRequestHandler, _: Request) -> None:
        handler.wfile.write(b"nonsense\r\n\r\n")
        handler.close_connection = True

    with receiving(nonsense) as receiver:
        outcome = webhook(receiver.url).send(event())
    assert outcome == Wait("no answer of HTTP: BadStatusLine")


def test_who_answers_a_byte_at_a_time_holds_nobody_up(
    background: Callable[..., Future[Any]],
) -> None:
    over = threading.Event()

    def slowly(handler: BaseHTTPRequestHandler, _: Request) -> None:
        with suppress(OSError):
            while not over.wait(0.02):
                handler.wfile.write(b"H")

    def silently(handler: BaseHTTPRequestHandler, _: Request) -> None:
        over.wait()

    for answer in (slowly, silently):
        over.clear()
        with receiving(answer) as receiver:
            hook = webhook(receiver.url, timeout=0.3)
            sent = background(hook.send, event())
            try:
                assert sent.result(timeout=60) == Wait("no answer within 0.3 s")
            finally:
                over.set()  # else it would answer for as long as it is asked
            receiver.answer = answers(200)
            assert hook.send(event()) == Settled(), "the next one has a new connection"


def test_an_endless_answer_is_not_read() -> None:
    over = threading.Event()

    def endlessly(handler: BaseHTTPRequestHandler, _: Request) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(10**12))
        handler.end_headers()
        with suppress(OSError):
            while not over.is_set():
                handler.wfile.write(b"x" * 65536)

    with receiving(endlessly) as receiver:
        assert webhook(receiver.url).send(event()) == Settled()
        over.set()


def test_one_connection_serves_many_events_and_a_new_one_when_it_was_closed() -> None:
    with receiving() as receiver:
        hook = webhook(receiver.url)
        for _ in range(3):
            assert hook.send(event()) == Settled()
        assert len({request.client for request in receiver.requests}) == 1

        def closing(handler: BaseHTTPRequestHandler, request: Request) -> None:
            answers(200)(handler, request)
            handler.close_connection = True  # without a word

        receiver.answer = closing
        for _ in range(3):
            assert hook.send(event()) == Settled()
        hook.close()


# What is signed -----------------------------------------------------------------------------------


def test_the_signature_is_that_of_the_standard() -> None:
    # The example of its specification.
    assert signed("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}', [KEY]) == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_while_a_secret_changes_both_sign() -> None:
    with receiving() as receiver:
        both = {HOOK: f"{KEY} whsec_AAAA"}
        hook = webhook(receiver.url, secret_name=HOOK, environment=both)
        assert hook.send(event()) == Settled()
    first, second = receiver.requests[0].headers["webhook-signature"].split(" ")
    assert first.startswith("v1,")
    assert second.startswith("v1,")
    assert first != second


@pytest.mark.parametrize("secret", [None, "", "whsec_no base64!", "whsec_é", "geheim!"])
def test_without_its_secret_nothing_is_sent(secret: str | None) -> None:
    assert unsigned(HOOK, {} if secret is None else {HOOK: secret}) == [NO_SECRET]


@pytest.mark.parametrize("name", ["HOOK", "PGPASSWORD", "OMD_DSN", "omd_secret_hook", ""])
def test_no_variable_signs_that_is_not_meant_to_and_nobody_learns_which_there_are(
    name: str,
) -> None:
    assert unsigned(name, {}) == unsigned(name, {name: KEY}) == [NO_SECRET]


NO_SECRET = Wait(
    "p_secret_name names no variable OMD_SECRET_… of the sender with whsec_ and base64"
)


def unsigned(name: str, environment: dict[str, str]) -> list[Outcome]:
    """Return what became of an event; nothing was sent."""
    with receiving() as receiver:
        hook = webhook(receiver.url, secret_name=name, environment=environment)
        outcome = hook.send(event())
        assert receiver.requests == []
    return [outcome]


# What is allowed ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "prefix", "expected"),
    [
        ("https://a.example/x", "https://a.example", True),
        ("https://a.example/x", "https://a.example/", True),
        ("https://a.example:443/x/y", "https://A.example/x", True),
        ("https://a.example/x", "https://a.example/x", True),
        ("https://a.example/xy", "https://a.example/x", False),
        ("https://a.example.evil/x", "https://a.example", False),
        ("https://a.example@evil/x", "https://a.example", False),
        ("https://a.example:444/x", "https://a.example", False),
        ("http://a.example/x", "https://a.example", False),
        ("https://a.example/x/../y", "https://a.example/x/", False),
        ("https://a.example/x/%2e%2E/y", "https://a.example/x/", False),
        ("https://a.example/x/..%5Cy", "https://a.example/x/", False),
        ("https://a.example/x?u=/../", "https://a.example/x", True),
        ("file:///etc/passwd", "file:///", False),
        ("https://", "https://", False),
    ],
)
def test_a_prefix_means_scheme_host_port_and_path(url: str, prefix: str, expected: bool) -> None:
    assert is_below(url, prefix) is expected


def test_what_is_not_allowed_is_not_sent() -> None:
    with receiving() as receiver:
        outcome = webhook(receiver.url, allowed=["https://a.example/"]).send(event())
        assert outcome == Wait("its URL is not below one of --allow-url")
        assert receiver.requests == []
        assert webhook(receiver.url, allowed=[receiver.url]).send(event()) == Settled()


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "10.1.2.3", "172.16.0.1", "172.31.255.255",
        "192.168.0.1", "169.254.169.254", "100.64.0.1", "192.0.0.1", "198.18.0.1", "224.0.0.1",
        "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%lo",
        "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808",
        "2002:7f00:1::", "2001:0:7f00:1::", "localhost", "", "127.1",
    ],
)  # fmt: skip
def test_an_address_of_this_host_or_its_networks_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "172.32.0.1", "2606:4700::1", "::ffff:8.8.8.8"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1"])
def test_without_a_named_url_nothing_of_this_host_is_connected_to(host: str) -> None:
    with receiving() as receiver:
        url = receiver.url.replace("127.0.0.1", host)
        outcome = Webhook(url).send(event())
        assert outcome == Wait("its host has no public address, and no --allow-url names it")
        assert receiver.requests == []
        assert webhook(url).send(event()) == Settled(), "it was there all the time"


def test_a_name_is_looked_up_once_and_the_address_that_was_looked_at_is_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name whose address is another one at the second look (DNS rebinding) wins nothing."""
    asked: list[str] = []
    connected: list[object] = []

    def looked_up(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        asked.append(host)
        addresses = ["127.0.0.1", "8.8.8.8", "10.0.0.1"] if len(asked) == 1 else ["127.0.0.1"]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

    class NoSocket(socket.socket):
        def connect(self, place: object) -> None:
            connected.append(place)
            raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    monkeypatch.setattr(socket, "socket", NoSocket)
    with pytest.raises(ConnectionRefusedError):
        dial("a.example", 80, 1.0, anywhere=False)
    assert (asked, connected) == (["a.example"], [("8.8.8.8", 80)])
    with pytest.raises(NotPublic):
        dial("a.example", 80, 1.0, anywhere=False)
    assert connected == [("8.8.8.8", 80)]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "gopher://a", "http://", "http://user:secret@127.0.0.1/", "x",
        "http://127.0.0.1:99999/", "http://127.0.0.1:1/\r\nX: y", "http://127.0.0.1:1/é ü",
        "http://[::1", "http://a b/",
    ],
)  # fmt: skip
def test_an_odd_url_is_a_problem_that_does_not_show_it(url: str) -> None:
    outcome = webhook(url, timeout=2, allowed=[url, "http://127.0.0.1:1/"]).send(event())
    assert isinstance(outcome, Wait)
    assert "secret" not in outcome.problem


def test_nothing_of_the_body_makes_a_header() -> None:
    hostile = json.dumps({"specversion": "1.0", "id": "x\r\nX-Evil: y", "data": {}})
    with receiving() as receiver:
        with pytest.raises(ValueError, match="header"):
            webhook(receiver.url).send(event(hostile))
        assert receiver.requests == []
