//! Grammars with rules that are nested in themselves.
//!
//! ```text
//! rules ─ skeleton.rs ─► graphs of texts and calls ─ recursion.rs ─► without recursion at their ends
//!   ─ bodies.rs ─► deterministic automata ─ machine.rs ─► the same over bytes, with a stack of calls ─ masks.rs ─► tokens
//! ```
//!
//! A reply is read in one way only: at each byte it is known whether it belongs to the rule that is read, begins another or follows it.
//! A grammar for which no such automata are found is refused when it is compiled. What cannot lead to the end of a reply is left out before, so
//! that every state can be completed. A byte opens at most as many calls as there are rules, and closes at most those that are open.

mod bodies;
mod conflicts;
mod ends;
mod first;
mod items;
mod machine;
mod masks;
mod recursion;
mod replies;
mod skeleton;
mod stacks;

use crate::mask::masker::StateMasker;
use crate::reply::ReplyCompiler;
use crate::strings::{LanguageId, Languages};
use crate::{CompileError, Masker};

use super::regular::RegularRules;
use super::rules::Grammar;
use bodies::BodyBuilder;
use first::FirstBytes;
use machine::Machine;
use replies::NestedReplies;
use skeleton::{REPLY, Skeleton};

/// Compiles a grammar of which `rules` are regular and others are not; `within` are the texts that tokens can spell, if not all.
///
/// # Errors
///
/// [`Unsupported`](crate::CompileErrorKind::Unsupported), where a byte does not say what comes next; [`Unsatisfiable`](crate::CompileErrorKind::Unsatisfiable), where there is no text; or
/// [`LimitExceeded`](crate::CompileErrorKind::LimitExceeded).
pub(super) fn compile(
    compiler: &ReplyCompiler,
    grammar: &Grammar,
    rules: &RegularRules,
    languages: &mut Languages,
    within: Option<LanguageId>,
) -> Result<Box<dyn Masker>, CompileError> {
    let mut skeleton = Skeleton::new(grammar, rules, languages, within)?;
    if !skeleton.trim() && !skeleton.may_be_empty(REPLY) {
        return Err(super::no_text());
    }
    skeleton.without_recursion_at_ends()?;
    let first = FirstBytes::new(&skeleton, languages)?;
    let bodies = BodyBuilder::new(&skeleton, languages, &first).find()?;
    let machine = Machine::new(&bodies, &first)?;
    let memory = compiler.options.schema.limits.memory_bytes;
    let replies = NestedReplies::new(compiler.vocabulary.clone(), compiler.json_tokens(), machine, memory);
    let start = replies.start();
    Ok(Box::new(StateMasker::new(replies, start)))
}
