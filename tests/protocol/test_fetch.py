"""Tasks by their address, from a server that is not trusted; and an operator's requests."""

import base64
import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from refusals import refused

from nomadp.client import http
from nomadp.client.bundles import fetched_from
from nomadp.errors import SchemaError, TaskRefused, UploadFailed
from nomadp.protocol import Task, TaskBundle, fetch
from nomadp.protocol.address import Address
from nomadp.protocol.fetch import Operator, fetch_counts
from tests.protocol.conftest import fields


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies, self.asked = {}, []
        self.pause_s, self.piece = 0.0, 1

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        status, content = self.server.replies.get(self.path, (404, b"{}"))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", content.decode())
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if not self.server.pause_s:
            self.wfile.write(content)
            return
        with suppress(OSError):  # the other side gave up
            for k in range(0, len(content), self.server.piece):
                self.wfile.write(content[k : k + self.server.piece])
                time.sleep(self.server.pause_s)

    do_GET = do_POST = answer

    def log_message(self, *facts):
        pass


@pytest.fixture
def server():
    made = Server()
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def serve(server, bundle):
    base = f"/tasks/{bundle.task.id}"
    server.replies[base] = (200, bundle.task.content)
    for name, content in bundle.files.items():
        server.replies[f"{base}/{name}"] = (200, content)
    return server.url + base


def test_a_task_is_fetched_and_checked(server, atlas_bundle, zones_bundle):
    for bundle in (atlas_bundle, zones_bundle):
        found = fetched_from(serve(server, bundle), bundle.task.id)
        assert found.task == bundle.task
        assert found.files == bundle.files


def test_nothing_says_who_asks(server, atlas_bundle):
    fetched_from(serve(server, atlas_bundle))
    sent = {name.lower() for _, _, headers, _ in server.asked for name in headers}
    assert sent == {"host"}


def test_another_task_at_the_address_is_refused(server, atlas_bundle):
    url = serve(server, atlas_bundle)
    other = Task(**fields(salt="AAAAAAAAAAAAAAAAAAAAAA"))
    server.replies[f"/tasks/{atlas_bundle.task.id}"] = (200, other.content)
    with refused(TaskRefused, "task_id_mismatch", task_id=other.id):
        fetched_from(url)


def test_an_address_of_another_id_than_expected_is_not_even_asked(server, atlas_bundle):
    url = serve(server, atlas_bundle)
    with refused(TaskRefused, "task_id_mismatch"):
        fetched_from(url, "A" * 43)
    with refused(TaskRefused, "task_id_missing"):
        fetched_from(server.url)
    assert server.asked == []


def test_locations_for_one_person_are_refused(server, atlas_bundle):
    url = serve(server, atlas_bundle)
    other = atlas_bundle.files["locations"].replace(b"place-a", b"place-z")
    server.replies[f"/tasks/{atlas_bundle.task.id}/locations"] = (200, other)
    with refused(TaskRefused, "task_file_hash_mismatch"):
        fetched_from(url)


def test_no_more_is_read_than_a_file_may_have(server, atlas_bundle):
    url = serve(server, atlas_bundle)
    server.replies[f"/tasks/{atlas_bundle.task.id}"] = (200, b" " * 10**6)
    with refused(TaskRefused, "task_file_too_large", limit=16_384):
        fetched_from(url)


def test_a_redirect_is_not_followed(server, atlas_bundle):
    url = serve(server, atlas_bundle)
    server.replies[f"/tasks/{atlas_bundle.task.id}"] = (302, b"/elsewhere")
    with refused(UploadFailed, "unexpected_status", status=302):
        fetched_from(url)
    assert [path for _, path, _, _ in server.asked] == [f"/tasks/{atlas_bundle.task.id}"]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("file:///etc/passwd", "address_malformed"),
        ("ftp://127.0.0.1/x", "address_malformed"),
        ("http://", "address_malformed"),
        ("task", "address_malformed"),
        ("http://127.0.0.1/a?b", "address_not_public"),
    ],
)
def test_only_plain_addresses_are_asked(url, code):
    with refused(TaskRefused, code):
        fetched_from(url)


def test_nobody_there_is_a_failure_and_no_refusal():
    with refused(UploadFailed, "collector_unreachable", reason="ConnectionRefusedError"):
        fetched_from(f"http://127.0.0.1:1/tasks/{'A' * 43}")


def test_a_reply_in_pieces_is_read_to_its_end(server, zones_bundle):
    url = serve(server, zones_bundle)
    server.pause_s, server.piece = 0.0005, 50  # this server closes after each reply
    assert fetched_from(url).task == zones_bundle.task


def test_a_reply_that_trickles_in_is_given_up(server, atlas_bundle, monkeypatch):
    monkeypatch.setattr(http, "REQUEST_MAX_S", 0.5)
    url = serve(server, atlas_bundle)
    server.pause_s = 0.1
    began_s = time.monotonic()
    with refused(UploadFailed, "collector_unreachable", reason="TimeoutError"):
        fetched_from(url)
    assert time.monotonic() - began_s < 60


def test_only_our_own_names_are_repeated_of_what_a_server_says(server):
    operator = Operator(Address.parse(server.url), "secret")
    server.replies["/operator/tasks"] = (404, b'{"type":"urn:nomadp:error:not_found"}')
    with refused(UploadFailed, "unexpected_status", status=404, problem="not_found"):
        operator.tasks()
    said = b'{"type":"urn:nomadp:error:\\u001b[2J","title":"pay us"}'
    server.replies["/operator/tasks"] = (404, said)
    with refused(UploadFailed, "unexpected_status", status=404, problem=None) as caught:
        operator.tasks()
    assert "\x1b" not in str(caught.value)
    assert "pay us" not in str(caught.value)


def test_a_token_is_not_carried_elsewhere(server):
    server.replies["/operator/tasks"] = (302, b"/elsewhere")
    with refused(UploadFailed, "unexpected_status", status=302):
        Operator(Address.parse(server.url), "secret").tasks()
    assert [path for _, path, _, _ in server.asked] == ["/operator/tasks"]


@pytest.mark.parametrize(
    "ask", [fetch_counts, lambda address, _, token: Operator(address, token).tasks()]
)
def test_a_token_is_sent_as_pasted_but_for_spaces_and_never_quoted(server, ask):
    with suppress(UploadFailed):
        ask(Address.parse(server.url), "A" * 43, " hidden-token\n")
    (asked,) = server.asked
    assert asked[2]["Authorization"] == "Bearer hidden-token"
    for token in ("hidden\ntoken", "hidden-tökén", "hidden\x00token"):
        with refused(SchemaError, "token_malformed") as refusal:
            ask(Address.parse(server.url), "A" * 43, token)
        assert "hidden" not in str(refusal.value)
    assert len(server.asked) == 1


def test_no_more_counts_are_read_than_there_may_be(server, monkeypatch):
    monkeypatch.setattr(fetch, "_COUNTS_BYTES_MAX", 10)
    path = f"/tasks/{'A' * 43}/counts"
    server.replies[path] = (200, b'{"n": 1}')
    assert fetch_counts(Address.parse(server.url), "A" * 43, "token") == {"n": 1}
    server.replies[path] = (200, b'{"n": 1, "more": 2}')
    with refused(UploadFailed, "reply_not_json"):
        fetch_counts(Address.parse(server.url), "A" * 43, "token")


def test_an_operator_publishes_lists_and_closes(server, atlas_bundle):
    server.replies |= {"/operator/tasks": (201, b'{"tasks":[]}')}
    server.replies[f"/operator/tasks/{atlas_bundle.task.id}/close"] = (200, b"")
    operator = Operator(Address.parse(server.url), "secret")
    operator.publish(atlas_bundle)
    assert operator.tasks() == {"tasks": []}
    assert operator.close(atlas_bundle.task.id) == {}
    (method, path, headers, body), *rest = server.asked
    assert (method, path) == ("POST", "/operator/tasks")
    assert headers["Authorization"] == "Bearer secret"
    sent = json.loads(body)
    files = {name: _bytes(text) for name, text in sent["files"].items()}
    assert (
        TaskBundle.from_files(Task.from_bytes(_bytes(sent["task"])), files).task
        == atlas_bundle.task
    )
    assert [(method, path) for method, path, _, _ in rest] == [
        ("GET", "/operator/tasks"),
        ("POST", f"/operator/tasks/{atlas_bundle.task.id}/close"),
    ]


def _bytes(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_an_id_that_is_none_is_not_asked_about(server):
    with refused(TaskRefused, "task_id_missing"):
        Operator(Address.parse(server.url), "secret").close("../everything")
    assert server.asked == []


def test_a_url_of_a_task_names_its_collector_and_no_other_task(server, atlas_bundle):
    one = Address.parse(f"{server.url}/tasks/{atlas_bundle.task.id}")
    server.replies[f"/tasks/{atlas_bundle.task.id}/counts"] = (200, b"{}")
    server.replies["/operator/tasks"] = (200, b"{}")
    assert fetch_counts(one, atlas_bundle.task.id, "token") == {}
    assert Operator(one, "secret").tasks() == {}
    asked = [path for _, path, _, _ in server.asked]
    assert asked == [f"/tasks/{atlas_bundle.task.id}/counts", "/operator/tasks"]
    with refused(TaskRefused, "task_id_mismatch"):
        Operator(one, "secret").close("A" * 43)


@pytest.mark.parametrize(
    "content", [b'{"tasks":[],"tasks":[]}', b'{"n":NaN}', b"[]", b'"text"', b"{" * 10**5]
)
def test_replies_that_are_no_plain_object_are_refused(server, content):
    server.replies["/operator/tasks"] = (200, content)
    with refused(UploadFailed, "reply_not_json"):
        Operator(Address.parse(server.url), "secret").tasks()
