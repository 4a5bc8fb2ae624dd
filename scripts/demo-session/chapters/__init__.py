"""The conversation, chapter by chapter: each takes the talk it adds to and the workspace it asks for places in files."""

from . import anchors, browser, documents, first_look, storage, windows

CHAPTERS = [
    first_look.play,
    anchors.play,
    windows.play,
    storage.play,
    browser.play,
    documents.play,
]
