"""Reads the report of `pip install --dry-run --report FILE` for one package; prints its size and file name.

The size is in MB, or `unknown`."""
import json
import os
import ssl
import sys
import urllib.parse
import urllib.request


def size_in_bytes(url):
    """The size of what `url` names, without fetching it; None where the server does not say."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "file":
        return os.path.getsize(urllib.request.url2pathname(parts.path))
    try:
        request = urllib.request.Request(url, method="HEAD")
        trusted = ssl.create_default_context(cafile=os.environ.get("PIP_CERT"))
        with urllib.request.urlopen(request, timeout=30, context=trusted) as answer:
            return int(answer.headers["Content-Length"])
    except (OSError, TypeError, ValueError):
        return None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        url = json.load(file)["install"][0]["download_info"]["url"]
    size = size_in_bytes(url)
    name = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rsplit("/", 1)[-1])
    print("unknown" if size is None else -(-size // 10**6), name)


if __name__ == "__main__":
    main()
