"""Makes examples/demo-session: a real session directory, written by the Python package peteos.

To be run by a Python that has the packages peteos 0.5.8 and tiktoken, with TIKTOKEN_CACHE_DIR at tiktoken's encodings;
`npm run setup` makes both (scripts/setup/reference.mjs says where), and then:

    TIKTOKEN_CACHE_DIR=target/reference/encodings target/reference/venv/bin/python scripts/make-demo-session.py

What the assistant of the session reads, it reads from the files of this repository as they are at that moment. Run it
again when a chapter no longer fits them; where a file or a place in one is gone, it says so and leaves the old session
as it is. Ids come from a seed, so that another run changes only what the files have changed.
"""

import gc
import random
import shutil
import sys
import tempfile
import uuid
from pathlib import Path

sys.dont_write_bytecode = True
root = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "scripts" / "demo-session"))

from chapters import CHAPTERS  # noqa: E402
from report import report  # noqa: E402
from talk import Talk  # noqa: E402
from workspace import Gone, Workspace  # noqa: E402


def seed_ids(seed: int) -> None:
    """Has every uuid that the reference makes come from a seed."""
    source = random.Random(seed)
    uuid.uuid4 = lambda: uuid.UUID(int=source.getrandbits(128), version=4)


def record(parent_dir: str) -> str:
    """Plays all chapters into a new session under `parent_dir`; returns its uuid."""
    workspace = Workspace(root)
    talk = Talk(parent_dir, workspace)
    for chapter in CHAPTERS:
        chapter(talk, workspace)
    return talk.finish()


def main() -> None:
    seed_ids(20)
    target = root / "examples" / "demo-session"
    with tempfile.TemporaryDirectory() as folder:
        session_id = record(folder)
        # The reference saves a session once more when it is collected: that has to happen while the folder is there.
        gc.collect()
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(Path(folder) / session_id, target / session_id)
    report(target / session_id)


if __name__ == "__main__":
    try:
        main()
    except Gone as gone:
        sys.exit(f"{gone} The chapters under scripts/demo-session have to be adapted.")
