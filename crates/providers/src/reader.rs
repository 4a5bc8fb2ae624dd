//! Reads the stored messages of a context for a format.

use std::rc::Rc;

use serde_json::Value;

use super::format::{ProviderFormat, ResultPlacement, accepts_thinking, media_fault};
use super::originals::{Kept, Originals, Shell};
use super::part::{self, Opaque, Role, arguments_object, is_redacted};
use super::source::{Call, KeptPart, Part, Piece, Source, Speaker, Text, ToolResult, Turn};
use peteos_conversation::error::Error;
use peteos_conversation::{Message, Pairing, PartKind, ResultState};
use peteos_json::Object;

/// A part of a message in the context.
#[derive(Clone, Copy)]
struct Location {
    /// The position of the message in the context.
    position: usize,
    /// The index of the message among those that are read.
    message: usize,
    /// The index of the part in the message.
    part: usize,
}

impl Location {
    /// An error about a field of this part.
    #[cold]
    fn fault(self, field: &str, message: impl Into<String>) -> Error {
        let dot = if field.is_empty() { "" } else { "." };
        let Self { position, part, .. } = self;
        Error::argument(&format!("messages[{position}].content[{part}]{dot}{field}"), message)
    }
}

/// What happens to a part that cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsendable {
    /// It is an error.
    Refused,
    /// It is left out.
    LeftOut,
}

/// Reads the special messages of a context, the system prompt first, and its other messages, each with its position.
///
/// # Errors
///
/// The first part that the format does not support, or that lacks a required field.
pub fn read_source<'c>(
    specials: [Option<(usize, &'c Message)>; 2],
    messages: impl Iterator<Item = (usize, &'c Message)>,
    format: &dyn ProviderFormat,
    unsendable: Unsendable,
) -> Result<Source<'c>, Error> {
    let messages: Vec<(usize, &Message)> = messages.collect();
    let pairing = match format.requirements().has_result_names {
        true => Pairing::of(messages.iter().map(|(_, message)| message.paired_functions())),
        false => Pairing::default(),
    };
    let mut reader = Reader { format, messages: &messages, pairing, unsendable, definitions: Vec::new() };
    let mut source = Source { prompt: Vec::new(), tools: Vec::new(), turns: Vec::new() };
    let [prompt, tools] = specials;
    if let Some((position, message)) = prompt {
        let at = Location { position, message: 0, part: 0 };
        let (mut pieces, originals) = reader.pieces(at, message, None)?;
        pieces.retain(|piece| matches!(piece.part, Part::Text(_) | Part::Kept(_)));
        source.prompt = turns_of(position, Speaker::Prompt, pieces, originals, format);
    }
    // Definitions in the system prompt, which the formats take.
    let stray = std::mem::take(&mut reader.definitions);
    if let Some((position, message)) = tools {
        let at = Location { position, message: 0, part: 0 };
        let (mut pieces, originals) = reader.pieces(at, message, None)?;
        pieces.retain(|piece| matches!(piece.part, Part::Kept(_)));
        pieces.append(&mut reader.definitions);
        pieces.sort_by_key(|piece| piece.index);
        source.tools = turns_of(position, Speaker::Definitions, pieces, originals, format);
    }
    for (index, &(position, message)) in messages.iter().enumerate() {
        let role = Role::of(message.role());
        let (pieces, originals) = reader.pieces(Location { position, message: index, part: 0 }, message, Some(role))?;
        let is_definitions = pieces.is_empty()
            && (message.role() == "tool" || message.parts().iter().any(|part| part["type"] == "tool"));
        if !is_definitions {
            source.turns.extend(turns_of(position, Speaker::of(role), pieces, originals, format));
        }
    }
    let more: Vec<Piece> = stray.into_iter().chain(reader.definitions).collect();
    if !more.is_empty() {
        match source.tools.last_mut().filter(|turn| turn.shell.is_none()) {
            Some(turn) => turn.pieces.extend(more),
            None => source.tools.push(Turn::new(Speaker::Definitions, 0, more)),
        }
    }
    Ok(source)
}

impl Speaker {
    fn of(role: Role) -> Self {
        match role {
            Role::Assistant => Self::Assistant,
            Role::System => Self::System,
            Role::Tool => Self::Tools,
            Role::User | Role::Unknown => Self::User,
        }
    }
}

impl<'c> Turn<'c> {
    fn new(speaker: Speaker, message: usize, pieces: Vec<Piece<'c>>) -> Self {
        Self { speaker, message, pieces, shell: None, lost_thinking: false }
    }
}

/// The turns of a message.
fn turns_of<'c>(
    message: usize,
    speaker: Speaker,
    pieces: Vec<Piece<'c>>,
    originals: Option<Originals>,
    format: &dyn ProviderFormat,
) -> Vec<Turn<'c>> {
    match originals {
        Some(originals) => kept_turns(message, speaker, pieces, originals, format),
        None => new_turns(message, speaker, pieces),
    }
}

/// The turns of a message whose entries were not kept. Tool results come first, except in a message of the assistant, where
/// text may precede them.
fn new_turns(message: usize, speaker: Speaker, pieces: Vec<Piece<'_>>) -> Vec<Turn<'_>> {
    if pieces.is_empty() {
        let speaker = if speaker == Speaker::Tools { Speaker::User } else { speaker };
        return vec![Turn::new(speaker, message, pieces)];
    }
    let (first, rest) = match speaker {
        Speaker::User | Speaker::Tools | Speaker::System => {
            pieces.into_iter().partition(|piece| piece.part.is_result())
        }
        _ => (Vec::new(), pieces),
    };
    let mut turns: Vec<Turn> = Vec::new();
    for piece in first.into_iter().chain(rest) {
        let speaker = speaker_of(&piece.part, speaker);
        match turns.last_mut() {
            Some(turn) if turn.speaker == speaker => turn.pieces.push(piece),
            _ => turns.push(Turn::new(speaker, message, vec![piece])),
        }
    }
    turns
}

/// Who says a part in a message of this speaker.
fn speaker_of(part: &Part, speaker: Speaker) -> Speaker {
    match part {
        _ if part.is_result() => Speaker::Tools,
        Part::Call(_) | Part::Thinking(_) | Part::RedactedThinking { .. } => Speaker::Assistant,
        Part::Kept(_) => speaker,
        _ if speaker == Speaker::Tools => Speaker::User,
        _ => speaker,
    }
}

/// The turns of a message whose entries were kept: one for each entry of which a part is left, in their order. A new part
/// joins the entry of the part before it.
fn kept_turns<'c>(
    message: usize,
    speaker: Speaker,
    pieces: Vec<Piece<'c>>,
    originals: Originals,
    format: &dyn ProviderFormat,
) -> Vec<Turn<'c>> {
    let Originals { entries, parts, lost_thinking } = originals;
    let shells: Vec<Rc<Shell>> = entries.into_iter().map(Rc::new).collect();
    let shell = |entry: usize| shells.get(entry).map(Rc::clone);
    let mut turns: Vec<Turn> = Vec::new();
    let mut next = 0;
    let mut last = None;
    let turn_of = |entry: Option<usize>, speaker, pieces| Turn {
        shell: entry.and_then(shell),
        lost_thinking,
        ..Turn::new(speaker, message, pieces)
    };
    // Entries without parts stay where they were.
    let empty_before = |next: &mut usize, end: usize, turns: &mut Vec<Turn<'c>>| {
        for entry in *next..end.min(shells.len()) {
            if shells.get(entry).is_some_and(|shell| shell.is_empty) {
                turns.push(turn_of(Some(entry), speaker, Vec::new()));
            }
        }
        *next = end.max(*next);
    };
    for piece in pieces {
        let own = parts.get(piece.index).and_then(Option::as_ref).map(|kept| kept.entry);
        let said = speaker_of(&piece.part, speaker);
        let is_at_home = said == speaker || !matches!(piece.part, Part::Result(_) | Part::Call(_));
        let entry = own.or_else(|| last.filter(|_| is_at_home));
        if let Some(entry) = entry {
            empty_before(&mut next, entry, &mut turns);
        }
        match turns.last_mut() {
            Some(turn) if !turn.pieces.is_empty() && entry == last && (entry.is_some() || turn.speaker == said) => {
                turn.pieces.push(piece);
            }
            _ => {
                let speaker = if entry.is_some() { speaker } else { said };
                turns.push(turn_of(entry, speaker, vec![piece]));
            }
        }
        last = entry;
    }
    empty_before(&mut next, shells.len(), &mut turns);
    if format.requirements().results == ResultPlacement::NextTurn && speaker != Speaker::Assistant {
        for turn in &mut turns {
            turn.pieces.sort_by_key(|piece| !piece.part.is_result());
        }
    }
    turns
}

/// Reads stored parts, which may have any content.
struct Reader<'c, 'r> {
    format: &'r dyn ProviderFormat,
    messages: &'r [(usize, &'c Message)],
    /// The calls and results of the messages, if the format needs the name of the tool with each result.
    pairing: Pairing<'c>,
    unsendable: Unsendable,
    /// The definitions of tools that were read.
    definitions: Vec<Piece<'c>>,
}

impl<'c> Reader<'c, '_> {
    /// The parts of a message that the format accepts, and what was kept of it. Definitions of tools stay in the reader. A
    /// special message has no role.
    fn pieces(
        &mut self,
        at: Location,
        message: &'c Message,
        role: Option<Role>,
    ) -> Result<(Vec<Piece<'c>>, Option<Originals>), Error> {
        let originals = Originals::of(message, self.format);
        let mut pieces = Vec::new();
        for (index, value) in message.parts().iter().enumerate() {
            let Some(fields) = value.as_object() else { continue };
            let kept = originals.as_ref().and_then(|originals| originals.parts.get(index)?.as_ref());
            let part = match kept {
                Some(Kept { target, block: Some(block), .. }) => {
                    let kind = PartKind::of(value);
                    Some(Part::Kept(KeptPart { kind, target: *target, block: block.clone() }))
                }
                _ => match self.part(value, fields, role, Location { part: index, ..at }) {
                    Err(_) if self.unsendable == Unsendable::LeftOut => None,
                    read => read?,
                },
            };
            let piece = part.map(|part| Piece { message: at.position, index, part });
            match piece {
                Some(piece) if matches!(piece.part, Part::Definition(_)) => self.definitions.push(piece),
                piece => pieces.extend(piece),
            }
        }
        Ok((pieces, originals))
    }

    /// The name of the tool in the call that a result answers.
    fn called_name(&self, result: Location) -> Option<&'c str> {
        let place = (result.message, result.part);
        let index = self.pairing.results.binary_search_by_key(&place, |result| result.place).ok()?;
        match self.pairing.results.get(index)?.state {
            ResultState::Answers(call) | ResultState::Second(call) => {
                let (message, part) = self.pairing.calls.get(call)?.place;
                string(self.messages.get(message)?.1.parts().get(part)?.as_object()?, "name")
            }
            ResultState::Orphan => None,
        }
    }

    fn part(
        &mut self,
        part: &'c Value,
        fields: &'c Object,
        role: Option<Role>,
        at: Location,
    ) -> Result<Option<Part<'c>>, Error> {
        let format = self.format;
        let is_special = role.is_none();
        let role = role.unwrap_or(Role::System);
        Ok(Some(match part::Part::read(part) {
            part::Part::Thinking(_) | part::Part::Call(_) | part::Part::Result { .. } if is_special => return Ok(None),
            part::Part::Text { text, .. } => Part::Text(Text { text, fields }),
            part::Part::Thinking(_) if !accepts_thinking(format, role, fields) => return Ok(None),
            part::Part::Thinking(_) => match string(fields, "data") {
                Some(data) if is_redacted(fields) => Part::RedactedThinking { data, fields },
                _ => Part::Thinking(Text { text: string(fields, "text").unwrap_or_default(), fields }),
            },
            part::Part::Media(media) => match media_fault(format, role, &media) {
                None => Part::Media(media),
                Some(fault) => {
                    let message =
                        format!("{}; remove it, or set the option repair to replace it with a note", fault.message);
                    return Err(at.fault(fault.field, message));
                }
            },
            part::Part::Call(part::Call { call_id, name, arguments, .. }) => {
                let input = if format.requirements().has_argument_objects {
                    arguments_object(arguments).map_err(|fault| at.fault("arguments", fault))?
                } else {
                    Object::new()
                };
                Part::Call(Call { call_id, name, arguments, input, fields })
            }
            part::Part::Result { call_id, content } => {
                let name = self.called_name(at).or_else(|| string(fields, "name"));
                if name.is_none() && format.requirements().has_result_names {
                    let fault = "no preceding call has this id, and the provider requires the name of the tool; remove \
                                 the result, or restore its call";
                    return Err(at.fault("call_id", fault));
                }
                // The moved media of a format without are media of the user, too.
                if let Some(fault) = content.media().find_map(|media| media_fault(format, Role::User, media)) {
                    let message =
                        format!("{}; remove it, or set the option repair to replace it with a note", fault.message);
                    return Err(at.fault("content", message));
                }
                let is_error = fields.get("is_error") == Some(&Value::Bool(true));
                Part::Result(ToolResult { call_id, content, name: name.unwrap_or_default(), is_error, fields })
            }
            part::Part::Definition(tool) => Part::Definition(tool),
            part::Part::Opaque(opaque) if opaque.provider != format.name() => return Ok(None),
            part::Part::Opaque(Opaque { value, target, .. }) => {
                Part::Kept(KeptPart { kind: PartKind::Other, target, block: value.clone() })
            }
            part::Part::Unknown(kind) => {
                let message = format!(
                    "no provider supports parts of the type {kind:?}; remove it, or set the option repair to omit it"
                );
                return Err(at.fault("type", message));
            }
            part::Part::Invalid { field, expected } => {
                let message = format!("expected {expected}; correct the stored message");
                return Err(at.fault(field, message));
            }
        }))
    }
}

fn string<'c>(fields: &'c Object, key: &str) -> Option<&'c str> {
    fields.get(key).and_then(Value::as_str)
}
