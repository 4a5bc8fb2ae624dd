//! Windows that keep exchanges and turns whole, over generated conversations: against a plain model, and by the laws that
//! hold whatever the conversation is.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use std::collections::BTreeSet;

use common::{CharacterCounter, TestEnvironment, dict};
use peteos_session::conversation::{Context, Counting, MESSAGES, Message, Special};
use peteos_session::error::Error;
use peteos_session::tokens::Encoding;
use peteos_session::window::{Boundary, TokenBudget, WindowOptions, WindowReport, Windows};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A message of a conversation: who says it, and the ids of the calls and of the results in it.
#[derive(Clone, Debug)]
struct Line {
    role: &'static str,
    calls: Vec<u8>,
    results: Vec<u8>,
    text: Option<usize>,
    is_thinking: bool,
}

impl Line {
    fn of(role: &'static str) -> Self {
        Self { role, calls: Vec::new(), results: Vec::new(), text: None, is_thinking: false }
    }

    fn content(&self) -> Value {
        let thinking = self.is_thinking.then(|| json!({"type": "thinking", "text": "hm"}));
        let text = self.text.map(|length| json!({"type": "text", "text": "x".repeat(length)}));
        let call = |id: &u8| json!({"type": "tool_use", "call_id": format!("c{id}"), "name": "f", "arguments": "{}"});
        let result = |id: &u8| json!({"type": "tool_result", "call_id": format!("c{id}"), "content": "ok"});
        let parts = thinking.into_iter().chain(text);
        parts.chain(self.calls.iter().map(call)).chain(self.results.iter().map(result)).collect()
    }

    fn is_prompt(&self) -> bool {
        self.role == "user" && self.calls.is_empty() && self.results.is_empty()
    }
}

/// One line, whatever it is: conversations of these are mostly broken.
fn any_line() -> impl Strategy<Value = Line> {
    let ids = || prop::collection::vec(0..4u8, 1..3);
    let text = 0..30usize;
    prop_oneof![
        3 => text.clone().prop_map(|length| Line { text: Some(length), ..Line::of("user") }),
        2 => text.clone().prop_map(|length| Line { text: Some(length), ..Line::of("assistant") }),
        1 => text.clone().prop_map(|length| Line { text: Some(length), ..Line::of("system") }),
        4 => (ids(), prop::option::of(text.clone()), any::<bool>())
            .prop_map(|(calls, text, is_thinking)| Line { calls, text, is_thinking, ..Line::of("assistant") }),
        4 => ids().prop_map(|results| Line { results, ..Line::of("tool_result") }),
        1 => (ids(), text).prop_map(|(results, length)| Line { results, text: Some(length), ..Line::of("user") }),
    ]
}

/// A turn as an agent makes it: a prompt, rounds of calls with their results, an answer. Sometimes something is missing.
fn turn() -> impl Strategy<Value = Vec<Line>> {
    let round = (1..4u8, any::<bool>(), any::<bool>(), 0..12u8);
    (0..30usize, prop::collection::vec(round, 0..5), 0..30usize, 0..6u8).prop_map(|(prompt, rounds, answer, end)| {
        let mut lines = vec![Line { text: Some(prompt), ..Line::of("user") }];
        for (count, is_thinking, together, oddity) in rounds {
            let calls: Vec<u8> = (0..count).collect();
            lines.push(Line { calls: calls.clone(), is_thinking, ..Line::of("assistant") });
            let mut answered = calls;
            if oddity == 0 {
                answered.pop();
            }
            if oddity == 1 {
                lines.push(Line { text: Some(5), ..Line::of("user") });
            }
            if together {
                lines.push(Line { results: answered, ..Line::of("tool_result") });
            } else {
                answered.reverse();
                lines.extend(answered.into_iter().map(|id| Line { results: vec![id], ..Line::of("tool_result") }));
            }
        }
        if end > 0 {
            lines.push(Line { text: Some(answer), ..Line::of("assistant") });
        }
        lines
    })
}

fn conversation() -> impl Strategy<Value = Vec<Line>> {
    prop_oneof![
        prop::collection::vec(any_line(), 0..14),
        prop::collection::vec(turn(), 0..4).prop_map(|turns| turns.concat()),
        (prop::collection::vec(turn(), 1..3), prop::collection::vec(any_line(), 0..5)).prop_map(|(turns, lines)| [
            turns.concat(),
            lines
        ]
        .concat()),
    ]
}

fn build(lines: &[Line], with_special: bool) -> Context {
    let environment = TestEnvironment::default();
    let special = with_special.then(|| {
        let value = json!({"content": [{"type": "text", "text": "You are careful."}]});
        Message::given_special(Special::SystemPrompt, value, &environment).unwrap()
    });
    let mut context = Context::create(special, None, None, &environment);
    for (index, line) in lines.iter().enumerate() {
        let value = json!({"id": format!("{index}"), "role": line.role, "content": line.content()});
        context.append(Message::given(value, &environment).unwrap(), MESSAGES).unwrap();
    }
    context
}

fn options(boundary: Boundary) -> WindowOptions {
    WindowOptions { boundary, ..WindowOptions::default() }
}

/// What a window keeps: indices of lines.
fn kept(report: &WindowReport) -> BTreeSet<usize> {
    report.kept().iter().map(|id| id.parse().unwrap()).collect()
}

/// The plain model, for lines in the order in which they were appended.
struct Model<'l> {
    lines: &'l [Line],
    /// The line of a result and that of its call.
    pairs: Vec<(usize, usize)>,
    pending: Vec<usize>,
}

impl<'l> Model<'l> {
    fn new(lines: &'l [Line]) -> Self {
        let mut pairs = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            for id in &line.results {
                // A message may have the call before the result within it.
                if let Some(call) = (0..=index).rev().find(|&earlier| lines[earlier].calls.contains(id)) {
                    pairs.push((call, index));
                }
            }
        }
        let last_assistant = lines.iter().rposition(|line| line.role == "assistant");
        let lacks_result = |index: usize| {
            let line: &Line = &lines[index];
            line.calls.iter().any(|id| !(index..lines.len()).any(|later| lines[later].results.contains(id)))
        };
        let pending = last_assistant.filter(|&index| lacks_result(index)).into_iter().collect();
        Self { lines, pairs, pending }
    }

    /// Whether the lines from `start` on are whole exchanges.
    fn is_whole(&self, start: usize) -> bool {
        self.pairs.iter().all(|&(call, result)| (call < start) == (result < start))
            && self.pending.iter().all(|&call| call >= start)
    }

    fn starts(&self) -> Vec<usize> {
        (0..self.lines.len()).filter(|&start| self.is_whole(start)).collect()
    }

    /// What each candidate keeps, the smallest first.
    fn candidates(&self, boundary: Boundary) -> Vec<BTreeSet<usize>> {
        let end = self.lines.len();
        let starts = self.starts();
        let mut candidates: Vec<BTreeSet<usize>> = match boundary {
            Boundary::Message => (0..=end).map(|start| (start..end).collect()).collect(),
            Boundary::Exchange => starts.iter().map(|&start| (start..end).collect()).collect(),
            Boundary::Turn => {
                let prompts: Vec<usize> = (0..end).filter(|&index| self.lines[index].is_prompt()).collect();
                // The newest prompt that a window could have begun at, now or at some time before.
                let works_under = prompts
                    .iter()
                    .rev()
                    .copied()
                    .find(|&prompt| (prompt + 1..=end).any(|now| Model::new(&self.lines[..now]).is_whole(prompt)));
                let turns = starts.iter().filter(|start| prompts.contains(start)).map(|&start| (start..end).collect());
                let in_loop = starts.iter().filter(|&&start| works_under.is_none_or(|prompt| start > prompt));
                let with_prompt = in_loop.map(|&start| {
                    let prompt = prompts.iter().rev().copied().find(|&prompt| prompt < start);
                    (start..end).chain(prompt).collect()
                });
                turns.chain(with_prompt).collect()
            }
        };
        candidates.push((0..end).collect());
        candidates.sort_by_key(BTreeSet::len);
        candidates.dedup();
        candidates
    }
}

const WHOLE: [Boundary; 2] = [Boundary::Exchange, Boundary::Turn];

fn is_chain(candidates: &[BTreeSet<usize>]) -> bool {
    candidates.windows(2).all(|pair| pair[0].is_subset(&pair[1]))
}

/// The report, or what is needed where nothing fits.
fn count_window(context: &Context, count: u64, options: &WindowOptions) -> Result<WindowReport, u64> {
    context.plan_sequence_window(count, options).map_err(|error| match error {
        Error::WindowTooSmall { limit, special_tokens: None, needed, .. } => {
            assert_eq!(limit, count);
            needed
        }
        other => panic!("{other}"),
    })
}

fn token_window(context: &Context, budget: TokenBudget, options: &WindowOptions) -> Result<WindowReport, u64> {
    let counter = CharacterCounter(Encoding::O200kBase);
    context.plan_token_window(budget, &Counting::reference(&counter), options).map_err(|error| match error {
        Error::WindowTooSmall { limit, special_tokens: Some(_), needed, .. } => {
            assert_eq!(limit, budget.max_tokens);
            needed
        }
        other => panic!("{other}"),
    })
}

fn costs(context: &Context) -> Vec<u64> {
    let counter = CharacterCounter(Encoding::O200kBase);
    let first = context.specials().iter().flatten().count();
    let counting = Counting::reference(&counter);
    (first..context.messages().len()).map(|position| counting.tokens(context, position).unwrap()).collect()
}

proptest! {
    #[test]
    fn the_largest_candidate_that_fits_is_kept(lines in conversation(), with_special: bool, part in 0..101u64) {
        let context = build(&lines, with_special);
        let model = Model::new(&lines);
        let costs = costs(&context);
        let counter = CharacterCounter(Encoding::O200kBase);
        let total = common::total(&context, &counter);
        let special = total - costs.iter().sum::<u64>();
        let before = dict(&context);
        for boundary in WHOLE {
            let candidates = model.candidates(boundary);
            prop_assert!(is_chain(&candidates), "{candidates:?}");
            for count in 0..=lines.len() as u64 + 1 {
                let expected = candidates.iter().rev().find(|kept| kept.len() as u64 <= count);
                match count_window(&context, count, &options(boundary)) {
                    Ok(report) => prop_assert_eq!(Some(&kept(&report)), expected),
                    Err(needed) => {
                        prop_assert_eq!(expected, None);
                        prop_assert_eq!(needed, candidates[0].len() as u64);
                    }
                }
            }
            let cost = |kept: &BTreeSet<usize>| special + kept.iter().map(|&index| costs[index]).sum::<u64>();
            let budget = total * part / 100;
            let expected = candidates.iter().rev().find(|kept| lines.is_empty() || cost(kept) <= budget);
            match token_window(&context, budget.into(), &options(boundary)) {
                Ok(report) => {
                    prop_assert_eq!(Some(&kept(&report)), expected);
                    prop_assert_eq!(report.tokens_after, Some(cost(&kept(&report))));
                    prop_assert_eq!(report.tokens_before, Some(total));
                    prop_assert_eq!(report.special_tokens, Some(special));
                }
                Err(needed) => {
                    prop_assert_eq!(expected, None);
                    prop_assert_eq!(needed, cost(&candidates[0]));
                }
            }
        }
        prop_assert_eq!(dict(&context), before, "a plan changes nothing");
    }

    #[test]
    fn exchanges_stay_whole_and_turns_begin_with_a_prompt(lines in conversation(), count in 0..20u64) {
        let context = build(&lines, true);
        let model = Model::new(&lines);
        for boundary in WHOLE {
            let Ok(report) = count_window(&context, count, &options(boundary)) else { continue };
            let kept = kept(&report);
            prop_assert!(kept.len() as u64 <= count || report.dropped().is_empty());
            prop_assert!(!kept.is_empty() || lines.is_empty());
            for (call, result) in &model.pairs {
                prop_assert_eq!(kept.contains(call), kept.contains(result), "an exchange was split");
            }
            prop_assert!(model.pending.iter().all(|call| kept.contains(call)), "a pending call stays");
            let Some(&first) = kept.first().filter(|_| !report.dropped().is_empty()) else { continue };
            if boundary == Boundary::Turn {
                let could = lines[..=first].iter().any(Line::is_prompt);
                prop_assert_eq!(lines[first].is_prompt(), could);
            }
            let rest = if boundary == Boundary::Turn { kept.iter().nth(1) } else { Some(&first) };
            if let Some(&rest) = rest {
                prop_assert!((rest..lines.len()).all(|index| kept.contains(&index)), "contiguous to the end");
            }
        }
    }

    #[test]
    fn a_larger_limit_keeps_more_and_a_new_message_brings_no_old_one_back(
        lines in conversation(), limit in 1..25u64, part in 1..100u64,
    ) {
        let total = common::total(&build(&lines, true), &CharacterCounter(Encoding::O200kBase));
        let budget = total * part / 100;
        for boundary in [Boundary::Message, Boundary::Exchange, Boundary::Turn] {
            let mut last: [Option<BTreeSet<usize>>; 2] = [None, None];
            for end in 0..=lines.len() {
                let context = build(&lines[..end], true);
                let windows = |limit: u64, budget: u64| [
                    count_window(&context, limit, &options(boundary)),
                    token_window(&context, budget.into(), &options(boundary)),
                ];
                for (index, report) in windows(limit, budget).into_iter().enumerate() {
                    let now = report.ok().map(|report| kept(&report));
                    // What fitted no longer fits, or less of it does; what did not fit may fit once the newest is smaller.
                    if let (Some(last), Some(now)) = (&last[index], &now) {
                        let old = now.iter().copied().filter(|line| *line + 1 != end);
                        prop_assert!(old.collect::<BTreeSet<_>>().is_subset(last), "{boundary:?} {last:?} {now:?}");
                    }
                    last[index] = now;
                }
                for (smaller, larger) in windows(limit, budget).into_iter().zip(windows(limit + 1, budget + 7)) {
                    if let Ok(smaller) = smaller {
                        let larger = larger.expect("what fits a limit fits a larger one");
                        prop_assert!(kept(&smaller).is_subset(&kept(&larger)));
                    }
                }
            }
        }
    }

    #[test]
    fn a_window_of_a_window_is_the_window(lines in conversation(), part in 0..100u64, boundary in 0..2usize) {
        let environment = TestEnvironment::default();
        let counter = CharacterCounter(Encoding::O200kBase);
        let counting = Counting::reference(&counter);
        let mut context = build(&lines, true);
        let budget = TokenBudget::from(common::total(&context, &counter) * part / 100);
        let options = options(WHOLE[boundary]);
        let before = dict(&context);
        match context.rolling_token_window(budget, &counting, &options, &environment) {
            Ok(Some(mut window)) => {
                let plan = context.plan_token_window(budget, &counting, &options).unwrap();
                let ids: Vec<&str> = window.messages().skip(1).map(Message::id).collect();
                prop_assert_eq!(ids, plan.kept());
                prop_assert_eq!(Some(common::total(&window, &counter)), plan.tokens_after);
                prop_assert!(plan.tokens_after <= Some(budget.max_tokens));
                prop_assert!(window.rolling_token_window(budget, &counting, &options, &environment).unwrap().is_none());
                let again = window.plan_token_window(budget, &counting, &options).unwrap();
                prop_assert_eq!((again.kept(), again.dropped().len()), (plan.kept(), 0));
            }
            Ok(None) => prop_assert_eq!(dict(&context), before),
            Err(Error::WindowTooSmall { needed, .. }) => {
                prop_assert_eq!(dict(&context), before, "after an error nothing is changed");
                prop_assert!(needed > budget.max_tokens);
                let enough = context.rolling_token_window(needed.into(), &counting, &options, &environment);
                prop_assert!(enough.is_ok(), "what is needed is enough");
                let less = context.rolling_token_window((needed - 1).into(), &counting, &options, &environment);
                prop_assert!(less.is_err(), "and no less is");
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn the_lower_mark_is_cut_down_to(lines in conversation(), marks in (0..100u64, 0..100u64), boundary in 0..3usize) {
        let context = build(&lines, true);
        let total = common::total(&context, &CharacterCounter(Encoding::O200kBase));
        let (limit, mark) = (total * marks.0.max(marks.1) / 100, total * marks.0.min(marks.1) / 100);
        let boundary = [Boundary::Message, Boundary::Exchange, Boundary::Turn][boundary];
        let plain = options(boundary);
        let marked = WindowOptions { lower_mark: Some(mark), ..plain.clone() };
        let Ok(at_limit) = token_window(&context, limit.into(), &plain) else {
            prop_assert!(token_window(&context, limit.into(), &marked).is_err());
            return Ok(());
        };
        let report = token_window(&context, limit.into(), &marked).unwrap();
        prop_assert!(kept(&report).is_subset(&kept(&at_limit)));
        prop_assert_eq!(report.dropped().is_empty(), at_limit.dropped().is_empty(), "only a window that must cut does");
        if !report.dropped().is_empty() {
            match token_window(&context, mark.into(), &plain) {
                Ok(at_mark) if !at_mark.kept().is_empty() => prop_assert_eq!(report.kept(), at_mark.kept()),
                _ => prop_assert!(report.tokens_after <= Some(limit) || report.kept().is_empty()),
            }
        }
    }

    #[test]
    fn what_is_pinned_stays(lines in conversation(), pins in prop::collection::vec(0..20usize, 1..4), part in 0..100u64) {
        if lines.is_empty() {
            return Ok(());
        }
        let context = build(&lines, true);
        let model = Model::new(&lines);
        let pins: BTreeSet<usize> = pins.into_iter().map(|pin| pin % lines.len()).collect();
        let budget = common::total(&context, &CharacterCounter(Encoding::O200kBase)) * part / 100;
        for boundary in [Boundary::Message, Boundary::Exchange, Boundary::Turn] {
            let options = WindowOptions {
                boundary, pins: pins.iter().map(ToString::to_string).collect(), ..WindowOptions::default()
            };
            match token_window(&context, budget.into(), &options) {
                Err(needed) => {
                    prop_assert!(needed > budget);
                    prop_assert!(token_window(&context, needed.into(), &options).is_ok());
                }
                Ok(report) => {
                    prop_assert!(report.tokens_after <= Some(budget));
                    let kept = kept(&report);
                    prop_assert!(pins.is_subset(&kept));
                    for (call, result) in &model.pairs {
                        let of_pin = pins.contains(call) || pins.contains(result);
                        if boundary != Boundary::Message || of_pin {
                            prop_assert_eq!(kept.contains(call), kept.contains(result));
                        }
                    }
                    if let (Boundary::Turn, Some(first)) = (boundary, kept.first()) {
                        if !report.dropped().is_empty() {
                            prop_assert_eq!(lines[*first].is_prompt(), lines[..=*first].iter().any(Line::is_prompt));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_reserved_is_not_for_messages(lines in conversation(), part in 0..100u64, reserve in 0..200u64) {
        let context = build(&lines, true);
        let budget = common::total(&context, &CharacterCounter(Encoding::O200kBase)) * part / 100;
        for boundary in WHOLE {
            let options = options(boundary);
            let plain = token_window(&context, budget.into(), &options);
            let reserving = token_window(&context, TokenBudget { max_tokens: budget + reserve, reserve }, &options);
            match (plain, reserving) {
                (Ok(plain), Ok(reserving)) => {
                    prop_assert_eq!(plain.messages, reserving.messages);
                    prop_assert_eq!((reserving.limit, reserving.reserve), (budget + reserve, reserve));
                }
                (plain, reserving) => prop_assert_eq!(plain.unwrap_err() + reserve, reserving.unwrap_err()),
            }
        }
    }
}
