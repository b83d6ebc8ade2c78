"""The batch interfaces of both protocols, as their SDKs call them: files and batches of OpenAI, batches of Gemini.

A job's replies are made by the server's `answers`, as if each request had been asked by itself.
"""

from __future__ import annotations

import email.parser
import email.policy
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.resources.chat.servers import Answer, Asked, ChatServer

Found = tuple[int, dict[str, Any] | bytes]
PAGE = 2
"""Jobs on a page of a listing, whatever was asked for, so that more than one page is read."""


def route(server: ChatServer, command: str, path: str, headers: dict[str, str], data: bytes) -> Found:
    """The status and the body of one request that is no chat."""
    parts = urlsplit(path)
    place, query = parts.path, parse_qs(parts.query)
    if place.startswith("/v1beta/"):
        return _gemini(server, command, place.removeprefix("/v1beta/"), query, data)
    return _openai(server, command, place.removeprefix("/v1/"), query, headers, data)


def _missing(place: str) -> Found:
    return 404, {"error": {"message": f"no such thing: {place}", "code": 404}}


def _openai(
    server: ChatServer, command: str, place: str, query: dict[str, list[str]], headers: dict[str, str], data: bytes
) -> Found:
    match command, place.split("/"):
        case "POST", ["files"]:
            form = _form(headers, data)
            assert form["purpose"] == b"batch"
            name = f"file-{len(server.files) + 1}"
            server.files[name] = form["file"]
            return 200, {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "x", "purpose": "batch"}
        case "GET", ["files", name, "content"] if name in server.files:
            return 200, server.files[name]
        case "POST", ["batches"]:
            name = f"batch-{len(server.batches) + 1}"
            asked = json.loads(data)
            assert asked["endpoint"] == "/v1/chat/completions" and asked["input_file_id"] in server.files
            server.batches[name] = asked | {"id": name, "object": "batch", "status": "validating", "created_at": 1}
            return 200, server.batches[name]
        case "GET", ["batches"]:
            # The newest first.
            names = list(server.batches)[::-1]
            start = names.index(query["after"][0]) + 1 if "after" in query else 0
            page = [server.batches[name] for name in names[start : start + PAGE]]
            return 200, {"object": "list", "data": page, "has_more": start + PAGE < len(names)}
        case "GET", ["batches", name] if name in server.batches:
            job = server.batches[name]
            if server.run_batches and job["status"] == "validating":
                _end_openai(server, job)
            return 200, job
    return _missing(place)


def _end_openai(server: ChatServer, job: dict[str, Any]) -> None:
    job["status"] = server.batch_end
    if server.batch_end == "failed":
        fault = {"code": "invalid", "message": "line 1 is no request", "line": 1}
        job["errors"] = {"object": "list", "data": [fault]}
        return
    good, bad = [], []
    rows = [json.loads(line) for line in server.files[job["input_file_id"]].splitlines()]
    ended = rows[: len(rows) // 2] if server.batch_end == "expired" else rows
    for row in ended:
        assert row["url"] == "/v1/chat/completions" and row["method"] == "POST"
        answer, body = _answered(server, Asked(False, row["url"], {}, row["body"]))
        line = {"id": "1", "custom_id": row["custom_id"], "error": None}
        line["response"] = {"status_code": answer.status, "request_id": "1", "body": body}
        (good if answer.status == 200 else bad).append(line)
    late = {"code": "batch_expired", "message": "This request could not be executed in time."}
    bad += [{"id": "1", "custom_id": row["custom_id"], "response": None, "error": late} for row in rows[len(ended) :]]
    for kind, lines in (("output_file_id", good), ("error_file_id", bad)):
        if lines:
            job[kind] = f"file-{len(server.files) + 1}"
            # Replies come in any order.
            server.files[job[kind]] = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines[::-1]).encode()


def _gemini(server: ChatServer, command: str, place: str, query: dict[str, list[str]], data: bytes) -> Found:
    if command == "POST" and place.startswith("models/") and place.endswith(":batchGenerateContent"):
        name = f"batches/{len(server.batches) + 1}"
        batch = json.loads(data)["batch"]
        metadata = {"displayName": batch["displayName"], "state": "BATCH_STATE_PENDING", "model": place.split(":")[0]}
        server.batches[name] = {"name": name, "metadata": metadata}
        server.files[name] = json.dumps(batch["inputConfig"]["requests"]["requests"]).encode()
        return 200, server.batches[name]
    if command == "GET" and place == "batches":
        names = list(server.batches)[::-1]
        start = int(query["pageToken"][0]) if "pageToken" in query else 0
        found: dict[str, Any] = {"operations": [server.batches[name] for name in names[start : start + PAGE]]}
        return 200, found | ({"nextPageToken": str(start + PAGE)} if start + PAGE < len(names) else {})
    if command == "GET" and place in server.batches:
        job = server.batches[place]
        if server.run_batches and job["metadata"]["state"] == "BATCH_STATE_PENDING":
            _end_gemini(server, job)
        return 200, job
    return _missing(place)


def _end_gemini(server: ChatServer, job: dict[str, Any]) -> None:
    states = {"completed": "SUCCEEDED", "failed": "FAILED", "expired": "EXPIRED"}
    job["metadata"]["state"] = f"BATCH_STATE_{states[server.batch_end]}"
    if server.batch_end == "failed":
        job["error"] = {"code": 13, "message": "line 1 is no request"}
        return
    rows = json.loads(server.files[job["name"]])
    found = []
    for row in rows[: len(rows) // 2] if server.batch_end == "expired" else rows:
        answer, body = _answered(server, Asked(True, job["metadata"]["model"], {}, row["request"]))
        status = {400: 3, 500: 13}.get(answer.status, answer.status)
        error = {"error": {"code": status, "message": answer.text}}
        found.append({"metadata": row["metadata"]} | ({"response": body} if answer.status == 200 else error))
    job["metadata"]["output"] = {"inlinedResponses": {"inlinedResponses": found[::-1]}}


def _answered(server: ChatServer, asked: Asked) -> tuple[Answer, dict[str, Any]]:
    answer = server.answer(asked)
    if answer.status != 200:
        return answer, {"error": {"message": answer.text, "code": answer.status}}
    return answer, server.completion(asked, answer)


def _form(headers: dict[str, str], data: bytes) -> dict[str, bytes]:
    """The fields of a form with files."""
    kind = next(value for name, value in headers.items() if name.lower() == "content-type")
    head = f"content-type: {kind}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + data)
    fields = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        fields[str(name)] = part.get_payload(decode=True)
    return fields
