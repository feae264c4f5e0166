"""What a device sends and what it makes of replies, over real HTTP on this machine."""

import json
import re
import socket
import threading
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Self

import pytest
from devices import Asked, Collector, Said, atlas_bundle, collecting, question_bundle
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from nomadp.client import Client, http, sending
from nomadp.client.sending import outcome_of
from nomadp.errors import TaskRefused, UploadFailed
from nomadp.protocol import TaskBundle
from nomadp.protocol.address import Address

BUNDLE = atlas_bundle(reports_per_contributor=60, epsilon="1/10")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries follow each other at once."""
    monkeypatch.setattr(sending, "RETRY_FIRST_S", 0.01)


def failure(asked: Asked, error: str) -> Said:
    (report,) = json.loads(asked.body)["reports"]
    said = {"failures": [{"error": error, "id": report["report_id"]}]}
    return Said(200, json.dumps(said).encode())


def test_an_upload_is_exactly_what_the_protocol_says(
    client: Client, collector: Collector
) -> None:
    began = int(time.time() // 86_400)
    receipt = client.report([0, 5, 7])
    (asked,) = collector.uploads
    assert asked.line == f"POST /tasks/{BUNDLE.task.id}/reports HTTP/1.1"
    assert asked.headers == {
        "Host": collector.url.removeprefix("http://"),
        "Content-Type": "application/vnd.nomadp+json;message=upload-req;version=1",
        "Content-Length": str(len(asked.body)),
    }
    said = json.loads(asked.body)
    value = said["reports"][0]["value"]
    assert said == {
        "reports": [{"report_id": receipt.report_id, "time": receipt.time, "value": value}]
    }
    assert asked.body == json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    assert re.fullmatch("[A-Za-z0-9_-]{21}[AQgw]", receipt.report_id)
    assert BUNDLE.code.parse(value)[0] < BUNDLE.code.size
    assert began <= receipt.time <= int(time.time() // 86_400)


def test_a_task_is_asked_for_with_nothing_but_its_path(
    client: Client, collector: Collector
) -> None:
    base = f"GET /tasks/{BUNDLE.task.id}"
    lines = [f"{base} HTTP/1.1", f"{base}/locations HTTP/1.1", f"{base}/atlas HTTP/1.1"]
    assert [asked.line for asked in collector.seen] == lines
    assert all(set(asked.headers) == {"Host"} for asked in collector.seen)


@pytest.mark.parametrize(
    "said",
    [Said(404), Said(503), Said(body=b"<html>"), Said(body=b'{"closed":1}'), Said(raw=b"")],
    ids=["old", "busy", "odd", "otherwise", "away"],
)
def test_a_collector_that_cannot_say_whether_it_is_closed_gets_reports(
    client: Client, collector: Collector, said: Said
) -> None:
    collector.files[f"/tasks/{BUNDLE.task.id}/status"] = said
    assert client.report([0, 5, 7]).accepted


@pytest.mark.parametrize("queue", [False, True])
def test_nobody_is_asked_while_a_report_waits_for_its_moment(
    tmp_path: Path, queue: bool
) -> None:
    bundle = atlas_bundle("w", send_within=0 if queue else 86_400)  # once in 86,401 it is now
    with collecting(bundle) as collector, Client(tmp_path / "home") as client:
        client.join(collector.url, bundle.task.id)
        joined = len(collector.seen)
        assert client.report([0, 5, 7], queue=queue).state == "waiting"
        assert len(collector.seen) == joined


JOURNEYS = [
    [0],
    [0, 11],
    [3] * 40,
    [(40.0, -74.0)],
    [(40.02, -73.97)] * 300,
    [(-33.9, 151.2), (60.2, 24.9)],
    [(90.0, 180.0), (-90.0, -180.0)],
]


@pytest.mark.parametrize(
    "bundle",
    [
        BUNDLE,
        atlas_bundle("one", length=1, reports_per_contributor=20, epsilon="1/4"),
        *(
            question_bundle(name, name, reports_per_contributor=20, epsilon="1/4")
            for name in ("trips", "starts", "ends", "visits")
        ),
        question_bundle("trips", "when", when="day-part", reports_per_contributor=20),
    ],
    ids=lambda bundle: f"{bundle.task.mechanism}-{bundle.task.salt[:4]}",
)
def test_every_journey_is_of_one_size_on_the_wire(tmp_path: Path, bundle: TaskBundle) -> None:
    with collecting(bundle) as collector, Client(tmp_path) as client:
        client.join(f"{collector.url}/tasks/{bundle.task.id}")
        for journey in JOURNEYS:
            assert client.report(journey, hour=30).accepted
        sizes = {(len(each.raw_head), len(each.body)) for each in collector.uploads}
        assert len(collector.uploads) == len(JOURNEYS)
        assert len(sizes) == 1


def test_every_report_has_a_connection_of_its_own(client: Client, collector: Collector) -> None:
    for _ in range(3):
        client.report([1, 2, 3], queue=True)
    client.send()
    assert [len(json.loads(each.body)["reports"]) for each in collector.uploads] == [1, 1, 1]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("status", [429, 500, 502, 503, 507])
def test_a_busy_collector_gets_the_same_bytes_again(
    client: Client, collector: Collector, status: int
) -> None:
    collector.replies = [Said(status), Said(status, b"x" * 200)]
    assert client.report([0, 1, 2]).accepted
    first, *again = [each.raw_head + each.body for each in collector.uploads]
    assert again == [first, first]
    assert client.budget().used == BUNDLE.task.epsilon


@pytest.mark.usefixtures("quick")
def test_a_lost_reply_is_followed_by_the_same_bytes(
    client: Client, collector: Collector
) -> None:
    collector.replies = [Said(raw=b""), Said(raw=b"HTTP/1.1 2"), Said(raw=b"\x00\xff" * 9)]
    assert client.report([0, 1, 2]).accepted
    assert len({each.body for each in collector.uploads}) == 1
    assert len(collector.uploads) == 4


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "cut",
    [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nDate: x\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 80\r\n\r\n",
    ],
)
def test_a_reply_that_was_cut_before_its_body_is_not_an_acceptance(
    client: Client, collector: Collector, cut: bytes
) -> None:
    collector.replies = [Said(raw=cut)]
    assert client.report([0, 1, 2]).accepted
    assert len(collector.uploads) == 2


PIECES = [
    *(b"HTTP/1.1 ", b"HTTP/0.9 ", b"200", b"1", b"-1", b" OK", b"\r\n", b"\n", b"\x00", b": "),
    *(b"Content-Length:", b"Transfer-Encoding: chunked", b"zz", b"ffffffff", b"\xff", b"{}"),
    *(b"Retry-After: 5", b"100 Continue\r\n\r\n", b"9" * 30),
]
REPLIES = st.one_of(
    st.binary(max_size=300),
    st.lists(
        st.sampled_from(PIECES),
        max_size=12,
    ).map(b"".join),
    st.binary(max_size=80).map(
        lambda rest: b"HTTP/1.1 200 OK\r\nContent-Length: 80\r\n" + rest
    ),
)


@given(REPLIES)
def test_no_reply_does_more_than_accept_wait_or_stop(raw: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(raw)
        theirs.shutdown(socket.SHUT_WR)
        try:
            response = http._bounded(4096, time.monotonic() + 60, ours, method="POST")
            response.begin()
            content = response.read(4097)
        except (OSError, HTTPException):
            return
        said = outcome_of(http.Reply(response.status, content, None, is_whole=True), "A" * 22)
    assert said.state in ("accepted", "waiting", "stopped")


def test_a_collector_says_when_to_come_again(client: Client, collector: Collector) -> None:
    collector.replies = [Said(503, headers=(("Retry-After", "600"),))]
    receipt = client.report([0, 1, 2])
    assert (receipt.state, receipt.reason) == ("waiting", "busy (503)")
    assert 500 <= (receipt.not_before or 0) - time.time() <= 605
    assert client.send() == []
    assert [each.state for each in client.send(now=True)] == ["accepted"]


@pytest.mark.parametrize("after", ["999999999", "9" * 40, "-5", "1e3", "Sun, 06 Nov", ""])
def test_a_collector_cannot_put_a_device_off_for_long(
    client: Client, collector: Collector, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "RETRY_FIRST_S", 100.0)
    collector.replies = [Said(429, headers=(("Retry-After", after),))]
    receipt = client.report([0, 1, 2])
    assert receipt.state == "waiting"
    assert (receipt.not_before or 0) - time.time() <= 3601


def test_back_off_grows_and_is_bounded() -> None:
    pauses = [sending.pause_s(attempts, 0) for attempts in range(60)]
    for attempts, pause_s in enumerate(pauses):
        most_s = min(3600, 0.5 * 2**attempts)
        assert most_s / 2 <= pause_s <= most_s
    assert len({sending.pause_s(3, 0) for _ in range(20)}) == 20


@pytest.mark.parametrize(
    "error", ["report_replayed", "report_dropped", "task_expired", "invalid_message"]
)
def test_a_refused_report_is_kept_and_not_sent_by_itself(
    client: Client, collector: Collector, error: str
) -> None:
    collector.replies = [lambda asked: failure(asked, error)]
    receipt = client.report([0, 1, 2])
    assert (receipt.state, receipt.reason) == ("stopped", error)
    assert client.send(now=True) == []
    assert [each.state for each in client.send(again=True)] == ["accepted"]
    assert len({each.body for each in collector.uploads}) == 1


def test_what_is_tried_again_does_not_take_along_what_is_not_due(tmp_path: Path) -> None:
    bundle = atlas_bundle("slow", send_within=86_400, reports_per_contributor=5, epsilon="1/8")
    with collecting(bundle) as collector, Client(tmp_path) as client:
        client.join(collector.url, bundle.task.id)
        collector.replies = [lambda asked: failure(asked, "report_dropped")]
        stopped = client.report([0, 1, 2], now=True)
        later = [client.report([0, 1, 2], queue=True) for _ in range(3)]
        due = [each.report_id for each in later if (each.not_before or 0) <= time.time()]
        sent = client.send(again=True)
        assert {each.report_id for each in sent} == {stopped.report_id, *due}


@pytest.mark.parametrize("error", ["report_too_early", "task_not_started"])
def test_a_report_that_comes_too_early_waits(
    client: Client, collector: Collector, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "RETRY_FIRST_S", 100.0)
    collector.replies = [lambda asked: failure(asked, error)]
    receipt = client.report([0, 1, 2])
    assert (receipt.state, receipt.reason) == ("waiting", error)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            b'{"type":"urn:nomadp:error:unrecognized_task"}',
            "urn:nomadp:error:unrecognized_task",
        ),
        (b'{"type":"urn:nomadp:error:\\u001b[31m"}', "400"),
        (b'{"type":"http://127.0.0.1/x","detail":"call this number"}', "400"),
        (b"[" * 4000, "400"),
        (b"", "400"),
    ],
)
def test_a_problem_stops_and_only_its_known_type_is_said(
    client: Client, collector: Collector, body: bytes, reason: str
) -> None:
    collector.replies = [Said(400, body)]
    receipt = client.report([0, 1, 2])
    assert (receipt.state, receipt.reason) == ("stopped", f"refused ({reason})")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_report_follows_no_redirection_and_waits(
    client: Client, collector: Collector, status: int
) -> None:
    with collecting(BUNDLE) as elsewhere:
        there = elsewhere.url + f"/tasks/{BUNDLE.task.id}/reports"
        collector.replies = [Said(status, headers=(("Location", there),))]
        client.report([0, 1, 2], queue=True)
        (receipt,) = client.send(now=True, patience_s=0)
        assert (receipt.state, receipt.reason) == ("waiting", f"moved ({status})")
        assert elsewhere.seen == []
    assert client.send(now=True)[0].state == "accepted"
    first, second = collector.uploads
    assert first.body == second.body


def test_why_a_report_waits_or_was_stopped_is_said(wording: Callable[..., None]) -> None:
    replies = {
        "503": http.Reply(503, b"", None, is_whole=True),
        "302": http.Reply(302, b"", None, is_whole=True),
        "404": http.Reply(404, b"", None, is_whole=True),
        "200, unreadable": http.Reply(200, b"accepted", None, is_whole=True),
        "200, unknown": http.Reply(
            200, b'{"failures":[{"error":"x","id":"A"}]}', None, is_whole=True
        ),
    }
    told = [f"no address: {sending.NO_ADDRESS}"]
    told += [f"{name}: {outcome_of(reply, 'A').reason}" for name, reply in replies.items()]
    wording("protocol", "why a report waits or was stopped", "\n".join(told))


def test_cookies_are_not_kept(client: Client, collector: Collector) -> None:
    cookie = (("Set-Cookie", "id=7; Max-Age=99999999"), ("ETag", '"7"'))
    collector.replies = [Said(200, headers=cookie)] * 2
    client.report([0, 1, 2])
    client.report([0, 1, 2])
    plain = {"Host", "Content-Type", "Content-Length"}
    assert [set(each.headers) for each in collector.uploads] == [plain, plain]


HUGE: list[bytes] = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n" + b"x" * 2**20,
    b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"y" * 2**17 + b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000 + b"\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n" * 50_000,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"400\r\n" + b"z" * 2**20,
    b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 2**20,
]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("raw", HUGE, ids=range(len(HUGE)))
def test_of_a_huge_reply_four_kilobytes_are_read(
    client: Client, collector: Collector, raw: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    plain = http._Bounds.readinto

    def counted(self: http._Bounds, buffer: object) -> int:
        read.append(plain(self, buffer))
        return read[-1]

    monkeypatch.setattr(http._Bounds, "readinto", counted)
    collector.replies = [Said(raw=raw)]
    assert client.report([0, 1, 2]).accepted  # the second time
    assert sum(read[:-2]) <= 4096 + 200  # the last are of the honest reply
    assert len({each.body for each in collector.uploads}) == 1


def test_a_slow_reply_is_given_up_in_all(
    client: Client, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "REQUEST_MAX_S", 0.3)
    monkeypatch.setattr(sending, "RETRY_FIRST_S", 100.0)

    is_given_up = threading.Event()

    def stall(asked: Asked) -> Said:
        is_given_up.wait(300)
        return Said()

    collector.replies = [stall]
    began_s = time.monotonic()
    receipt = client.report([0, 1, 2])
    is_given_up.set()
    assert (receipt.state, receipt.reason) == ("waiting", "unreachable (TimeoutError)")
    assert time.monotonic() - began_s < 200


def test_drops_of_a_reply_do_not_hold_the_deadline_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Drip:
        def settimeout(self, seconds: float) -> None:
            pass

        def makefile(self, mode: str, buffering: int) -> Self:
            return self

        def readinto(self, buffer: memoryview) -> int:
            time.sleep(0.02)
            buffer[0] = 32
            return 1

        def close(self) -> None:
            pass

    bounds = http._Bounds(Drip(), 4096, time.monotonic() + 0.1)
    with pytest.raises(TimeoutError):
        bounds.makefile("rb").read()


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b'{"failures":[]}',
        b'{"failures":[{"id":"AAAAAAAAAAAAAAAAAAAAAA","error":"report_dropped"}]}',
        b'{"failures":"report_dropped"}',
        b"null",
        b"accepted",
        b'{"failures":[{"error":"report_dropped"}]}',
    ],
)
def test_a_reply_that_says_nothing_known_changes_nothing(content: bytes) -> None:
    said = outcome_of(http.Reply(200, content, None, is_whole=True), "B" * 21 + "A")
    assert said.state == "waiting"


def test_of_a_refusal_only_a_known_word_is_repeated(
    client: Client, collector: Collector
) -> None:
    collector.replies = [lambda asked: failure(asked, "call this number")]
    receipt = client.report([0, 1, 2])
    assert (receipt.state, receipt.reason) == ("stopped", sending.UNKNOWN_REASON)


# Joining.


def without(field: str) -> Callable[[TaskBundle], dict[str, Said]]:
    """What is served in place of a file."""
    base = f"/tasks/{BUNDLE.task.id}"
    path = base if field == "task" else f"{base}/{field}"
    other = atlas_bundle("other", epsilon="1/5")
    wrong = other.task.content if field == "task" else b"location_id,lat,lng\na,1,2\nb,3,4\n"
    return lambda bundle: {path: Said(body=wrong)}


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("task", "task_id_mismatch"),
        ("locations", "task_file_hash_mismatch"),
        ("atlas", "not_json_object"),
    ],
)
def test_what_is_not_the_expected_task_is_refused(
    tmp_path: Path, field: str, code: str
) -> None:
    with collecting(BUNDLE) as collector, Client(tmp_path) as client:
        collector.files = without(field)(BUNDLE)
        with refused(TaskRefused, code):
            client.join(collector.url, BUNDLE.task.id)
        assert not (tmp_path / "tasks").exists()
        collector.files = {}
        client.join(collector.url, BUNDLE.task.id)


def test_a_task_changed_by_one_field_is_refused(tmp_path: Path) -> None:
    with collecting(BUNDLE) as collector, Client(tmp_path) as client:
        changed = BUNDLE.task.content.replace(b'"min_batch_size":100', b'"min_batch_size":101')
        assert changed != BUNDLE.task.content
        collector.files = {f"/tasks/{BUNDLE.task.id}": Said(body=changed)}
        with refused(TaskRefused, "task_id_mismatch", expected=BUNDLE.task.id):
            client.join(collector.url, BUNDLE.task.id)


@pytest.mark.parametrize("path", ["", "/locations"])
def test_a_task_is_not_fetched_from_elsewhere(tmp_path: Path, path: str) -> None:
    with (
        collecting(BUNDLE) as collector,
        collecting(BUNDLE) as other,
        Client(tmp_path) as client,
    ):
        here = f"/tasks/{BUNDLE.task.id}{path}"
        collector.files = {here: Said(302, headers=(("Location", other.url + here),))}
        with refused(UploadFailed, "unexpected_status", status=302):
            client.join(collector.url, BUNDLE.task.id)
        assert other.seen == []


def test_a_file_larger_than_any_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nomadp.client import bundles

    monkeypatch.setattr(bundles, "FILE_BYTES_MAX", 100_000)
    with collecting(BUNDLE) as collector, Client(tmp_path) as client:
        path = f"/tasks/{BUNDLE.task.id}/locations"
        collector.files = {path: Said(body=b"x" * 200_000)}
        with refused(TaskRefused, "task_file_too_large", limit=100_000):
            client.join(collector.url, BUNDLE.task.id)


def test_a_collector_out_of_reach_is_said(tmp_path: Path) -> None:
    with collecting(BUNDLE) as collector:
        url = collector.url
    with (
        Client(tmp_path) as client,
        refused(UploadFailed, "collector_unreachable", reason="ConnectionRefusedError"),
    ):
        client.join(url, BUNDLE.task.id)


def test_an_address_with_another_id_is_refused(tmp_path: Path, collector: Collector) -> None:
    url = f"{collector.url}/tasks/{BUNDLE.task.id}"
    with Client(tmp_path) as client, refused(TaskRefused, "task_id_mismatch"):
        client.join(url, atlas_bundle("z").task.id)
    assert collector.seen == []


@pytest.mark.parametrize("task_id", [None, "short", "!" * 43, "../" * 14 + "A"])
def test_a_task_without_a_known_id_is_refused(
    tmp_path: Path, collector: Collector, task_id: str | None
) -> None:
    with Client(tmp_path) as client, refused(TaskRefused, "task_id_missing"):
        client.join(collector.url, task_id)


@pytest.mark.parametrize(
    ("rest", "code"),
    [
        ("http|HOST", "address_not_https"),
        ("http|127.0.0.1.HOST", "address_not_https"),
        ("http|10.0.0.1", "address_not_https"),
        ("http|[fe80::1]", "address_not_https"),
        ("https|you:secret@HOST", "address_not_public"),
        ("https|@HOST", "address_not_public"),
        ("https|HOST/?device=7", "address_not_public"),
        ("https|HOST?", "address_not_public"),
        ("https|HOST/tasks/#", "address_not_public"),
        ("https|HOST/#7", "address_not_public"),
        ("https|HOST/a b", "address_malformed"),
        ("https|HOST/a%20b", "address_path_malformed"),
        ("https|HOST\r\nX: y", "address_not_plain_text"),
        ("https|h\u00f6st", "address_not_plain_text"),
        ("https|", "address_malformed"),
        ("https|HOST:x", "address_malformed"),
        ("ftp|HOST", "address_malformed"),
        ("https|" + "h" * 1000, "address_not_plain_text"),
    ],
)
def test_an_address_that_is_not_plain_is_refused(rest: str, code: str) -> None:
    with refused(TaskRefused, code):
        Address.parse(rest.replace("|", "://"))


@pytest.mark.parametrize(
    "rest", ["https|HOST", "https|HOST:8443/nomadp", "http|localhost:1", "http|[::1]:1"]
)
def test_an_address_survives_being_written_down(rest: str) -> None:
    url = rest.replace("|", "://").replace("HOST", "host")
    address = Address.parse(f"{url}/tasks/{BUNDLE.task.id}/")
    assert (str(address), address.task()) == (url, BUNDLE.task.id)
    assert (str(Address.parse(url)), Address.parse(url).task_id) == (url, None)


def test_http_to_another_machine_needs_to_be_asked_for_by_name() -> None:
    url = "http" + "://HOST/tasks/" + BUNDLE.task.id
    with refused(TaskRefused, "address_not_https"):
        Address.parse(url)
    assert Address.parse(url, insecure=True).task() == BUNDLE.task.id
    with refused(TaskRefused, "address_malformed"):
        Address.parse("ftp" + "://HOST", insecure=True)


def test_tls_is_verified(tmp_path: Path) -> None:
    connection = http._connection(Address.parse("https" + "://HOST"))
    assert connection._context.verify_mode.name == "CERT_REQUIRED"  # type: ignore[attr-defined]
    assert connection._context.check_hostname  # type: ignore[attr-defined]
