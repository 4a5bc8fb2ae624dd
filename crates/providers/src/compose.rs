//! Writes turns as the entries of a request.

use serde_json::Value;

use super::entry::{Block, Slot, Target};
use super::format::{ProviderFormat, ResultPlacement};
use super::originals::Shell;
use super::source::{Part, Piece, Source, Speaker, Turn};
use peteos_json::Object;

/// The entries of a request that hold a conversation.
#[derive(Default)]
pub struct Composed {
    /// Those of the system prompt.
    pub system: Vec<Written>,
    /// Those of the tools.
    pub tools: Vec<Written>,
    /// The messages.
    pub messages: Vec<Written>,
}

/// An entry that was written.
pub struct Written {
    /// The entry.
    pub value: Value,
    /// Each part in it: the position of its message, its index in that message, and where it is.
    pub parts: Vec<(usize, usize, Slot)>,
}

impl Written {
    /// Where a part of the only message is, and its block.
    pub fn block_of(&self, part: usize) -> Option<(Slot, Value)> {
        let (.., slot) = self.parts.iter().find(|(_, index, _)| *index == part)?;
        Some((*slot, slot.block(&self.value)))
    }
}

/// What is around a part that is written.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// Who speaks.
    pub speaker: Speaker,
    /// Whether thinking of the assistant precedes the part, in the same message or in one directly before.
    pub after_thinking: bool,
    /// Whether it goes to an entry that was kept.
    pub in_kept_entry: bool,
}

/// Writes a conversation.
pub fn compose(source: Source<'_>, format: &dyn ProviderFormat) -> Composed {
    let mut composed = Composed::default();
    let (lifted, turns): (Vec<Turn>, Vec<Turn>) = source.turns.into_iter().partition(|turn| turn.is_lifted(format));
    let prompt =
        source.prompt.into_iter().chain(lifted.into_iter().map(|turn| Turn { speaker: Speaker::Prompt, ..turn }));
    for turn in merged(prompt) {
        Composer::new(format, &mut composed.system).turn(&turn, &mut false);
    }
    for turn in source.tools {
        Composer::new(format, &mut composed.tools).turn(&turn, &mut false);
    }
    composed.messages = compose_turns(turns, format, &mut false);
    composed
}

/// Writes turns that are messages.
pub fn compose_turns(turns: Vec<Turn<'_>>, format: &dyn ProviderFormat, after_thinking: &mut bool) -> Vec<Written> {
    let turns =
        if format.requirements().results == ResultPlacement::NextTurn { with_results_joined(turns) } else { turns };
    let mut written = Vec::new();
    for turn in turns {
        *after_thinking &= turn.speaker == Speaker::Assistant;
        Composer::new(format, &mut written).turn(&turn, after_thinking);
    }
    written
}

/// Joins neighbours that no kept entry separates.
fn merged<'c>(turns: impl Iterator<Item = Turn<'c>>) -> Vec<Turn<'c>> {
    let mut merged: Vec<Turn> = Vec::new();
    for mut turn in turns {
        match merged.last_mut().filter(|last| last.shell.is_none() && turn.shell.is_none()) {
            Some(last) => last.pieces.append(&mut turn.pieces),
            None => merged.push(turn),
        }
    }
    merged
}

/// The turns for a format in which the user sends tool results: the results of consecutive messages become one turn before
/// the other content of these messages. An entry that was kept stays alone.
fn with_results_joined(turns: Vec<Turn<'_>>) -> Vec<Turn<'_>> {
    let mut joined: Vec<Turn> = Vec::new();
    // Whether the last turn consists of results.
    let mut is_open = false;
    for mut turn in turns {
        let last = joined.last_mut().filter(|_| is_open && turn.shell.is_none());
        match (turn.speaker, last) {
            (Speaker::Tools, Some(last)) => {
                let at = last.pieces.iter().take_while(|piece| piece.part.is_result()).count();
                last.pieces.splice(at..at, turn.pieces);
                last.message = turn.message;
            }
            (Speaker::User, Some(last)) if last.message == turn.message => last.pieces.append(&mut turn.pieces),
            _ => {
                is_open = turn.speaker == Speaker::Tools && turn.shell.is_none();
                if is_open {
                    turn.speaker = Speaker::User;
                }
                joined.push(turn);
            }
        }
    }
    joined
}

struct Composer<'f, 'o> {
    format: &'f dyn ProviderFormat,
    /// The entry to which blocks are added.
    open: Option<Open>,
    written: &'o mut Vec<Written>,
}

struct Open {
    /// The fields that blocks of the same entry share.
    shell: Object,
    entry: Object,
    parts: Vec<(usize, usize, Slot)>,
    is_kept: bool,
}

impl<'f, 'o> Composer<'f, 'o> {
    fn new(format: &'f dyn ProviderFormat, written: &'o mut Vec<Written>) -> Self {
        Self { format, open: None, written }
    }

    fn turn(mut self, turn: &Turn<'_>, after_thinking: &mut bool) {
        let before = self.written.len();
        for piece in &turn.pieces {
            let around = Around {
                speaker: turn.speaker,
                after_thinking: *after_thinking,
                in_kept_entry: turn.shell.as_ref().is_some_and(|shell| !shell.fields.is_empty()),
            };
            if let Some(block) = block(self.format, piece, around) {
                self.add(block, turn, piece);
            }
            *after_thinking |= piece.part.is_thinking();
        }
        if let (true, Some(shell)) = (turn.pieces.is_empty(), &turn.shell) {
            self.open = Some(Open::of_shell(shell));
        }
        self.close(turn);
        if self.written.len() == before && turn.shell.is_none() && turn.speaker.is_of_messages() {
            self.written.push(Written { value: self.format.empty_entry(turn.speaker), parts: Vec::new() });
        }
    }

    fn add(&mut self, block: Block, turn: &Turn<'_>, piece: &Piece<'_>) {
        let place = |slot| (piece.message, piece.index, slot);
        match block.target {
            Target::Whole => {
                self.close(turn);
                self.push(block.value, vec![place(Slot::Whole)], turn);
            }
            target => {
                let is_other = |open: &Open| !open.is_kept && open.shell != block.shell;
                if self.open.as_ref().is_some_and(is_other) {
                    self.close(turn);
                }
                let shell = turn.shell.as_ref().filter(|shell| !shell.fields.is_empty());
                let open = self.open.get_or_insert_with(|| match shell {
                    Some(shell) => Open::of_shell(shell),
                    None => Open::new(block.shell),
                });
                let slot = match target {
                    Target::List(list) => {
                        let items = open.entry.entry(list).or_insert_with(|| Vec::<Value>::new().into());
                        if !items.is_array() {
                            *items = Vec::<Value>::new().into();
                        }
                        let Some(items) = items.as_array_mut() else { return };
                        items.push(block.value);
                        Slot::Item(list, items.len() - 1)
                    }
                    _ => {
                        if let Value::Object(fields) = block.value {
                            open.entry.extend(fields);
                        }
                        Slot::Fields(&[])
                    }
                };
                open.parts.push(place(slot));
            }
        }
    }

    fn close(&mut self, turn: &Turn<'_>) {
        let Some(Open { mut entry, parts, .. }) = self.open.take() else { return };
        for list in turn.shell.iter().flat_map(|shell| &shell.lists) {
            if entry.get(*list).and_then(Value::as_array).is_some_and(Vec::is_empty) {
                entry.shift_remove(*list);
            }
        }
        let value = self.format.finish(turn.speaker, entry);
        self.push(value, parts, turn);
    }

    fn push(&mut self, value: Value, parts: Vec<(usize, usize, Slot)>, turn: &Turn<'_>) {
        let value = if turn.lost_thinking { self.format.without_thinking(value) } else { Some(value) };
        self.written.extend(value.map(|value| Written { value, parts }));
    }
}

impl Open {
    fn new(shell: Object) -> Self {
        Self { entry: shell.clone(), shell, parts: Vec::new(), is_kept: false }
    }

    fn of_shell(shell: &Shell) -> Self {
        Self { shell: Object::new(), entry: shell.fields.clone(), parts: Vec::new(), is_kept: true }
    }
}

/// The block of a part; `None` if the format has none.
fn block(format: &dyn ProviderFormat, piece: &Piece<'_>, around: Around) -> Option<Block> {
    match &piece.part {
        Part::Kept(kept) => {
            Some(Block { shell: format.shell(around.speaker), target: kept.target, value: kept.block.clone() })
        }
        Part::Definition(tool) => Some(format.definition(tool)),
        part => format.block(part, around),
    }
}
