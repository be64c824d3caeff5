# SPDX-License-Identifier: Apache-2.0
"""The page in a notebook."""
import base64
import gzip
import html
import os
import tempfile


class Page:
    """A replay in the page, as one HTML text: shown by notebooks, saved by save(path)."""

    def __init__(self, text, height):
        self.text, self.height = text, height

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(self.text)}" width="100%" height="{self.height}" style="border:0"></iframe>'

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)


def _page():
    """The page's file: TRIBO_PAGE, beside the package, or in the folder it was built in (`make page`)."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (os.environ.get("TRIBO_PAGE", ""), os.path.join(here, "index.html"),
                 os.path.join(here, "..", "..", "..", "viewer", "dist", "index.html"),
                 os.path.join("/usr", "local", "share", "tribo", "index.html")):
        if path and os.path.isfile(path):
            return path
    raise FileNotFoundError("the page is not built: run `make page`, or name its file in TRIBO_PAGE")


def show(what, height=600, seconds=None):
    """A replay file, or a world, in the page. A world is run for `seconds` (default: its scene's time) and then put back
    to where it was."""
    with open(_page(), encoding="utf-8") as file:
        page = file.read()
    if hasattr(what, "record_to"):
        replay = _replay(what, seconds)
    else:
        with open(what, "rb") as file:
            replay = file.read()
    data = base64.b64encode(gzip.compress(replay, 9)).decode()
    element = f'<script type="application/octet-stream" data-replay="replay" data-title="replay">{data}</script>'
    if "<!-- replays -->" not in page:
        raise ValueError("the page has no place for replays")
    return Page(page.replace("<!-- replays -->", element + "\n<!-- replays -->", 1), height)


def _replay(world, seconds):
    moment = world.snapshot()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "replay.trp")
        world.record_to(path)
        try:
            world.run(seconds=seconds)
        finally:
            world.end_recordings()
            world.restore(moment)
        with open(path, "rb") as file:
            return file.read()
