"""Says what a session directory holds."""

import json
from pathlib import Path


def report(session_dir: Path) -> None:
    session = json.loads((session_dir / "session.json").read_text())
    total = 0
    for file in sorted(session_dir.glob("*.json")):
        size = file.stat().st_size
        total += size
        detail = ""
        if file.name != "session.json":
            context = json.loads(file.read_text())
            active = ", active" if context["id"] == session["active_context_id"] else ""
            detail = f"  {len(context['messages'])} messages, {len(context['anchor_points'])} anchors{active}"
        print(f"{size:>8}  {file.name}{detail}")
    print(f"{total:>8}  {session_dir.parent.name}/{session_dir.name}")
