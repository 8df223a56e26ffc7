//! Everything that the parts of a readout draw, after one act or before the first.

use echomq_core::snippet::{Language, shell_word, snippet};
use echomq_core::stage::Act;
use echomq_core::{Call, JobId, Script, Set, WireError};

use super::diff::{KeyDiff, diff};
use super::listing::Listing;
use super::staged::{Readout, Staged};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// `None` before the first act.
    pub said: Option<Said>,
    pub listing: Listing,
    pub keys: Vec<KeyDiff>,
    /// Where the job is: `pending`, `active`, `schedule`, `dead` or `gone`.
    pub place: &'static str,
    /// The row's `state`; empty when there is no row.
    pub state: String,
    /// The row's `attempts`; empty when there is no row.
    pub attempts: String,
    /// What a server of the reader's needs before.
    pub once: Vec<String>,
    /// What the last act sent.
    pub argv: Vec<Vec<u8>>,
    /// How many acts can be taken back.
    pub steps: usize,
}

/// What was sent and what came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub prompt: String,
    pub readout: Readout,
    pub refused: bool,
}

impl Shown {
    /// The session as it stands. `script` is what is listed before the first act.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn new(staged: &mut Staged, script: &'static Script) -> Result<Shown, WireError> {
        let clock_ms = staged.clock_ms()?;
        let (state, job, act) = (staged.state(), staged.job(), staged.last());
        let before = act.map_or(state, |act| &act.before);
        let field = |name| state.field(job, name).unwrap_or_default().to_owned();
        Ok(Shown {
            said: act.zip(staged.readout()).map(|(act, readout)| Said {
                prompt: prompt(act, job),
                refused: act.reply.is_error(),
                readout,
            }),
            listing: Listing::new(act.and_then(|act| act.script).unwrap_or(script), act),
            keys: diff(staged.queue().keys(), before, state, clock_ms),
            place: state.place(job).map_or("gone", Set::name),
            state: field("state"),
            attempts: field("attempts"),
            once: shell_lines(staged, script),
            argv: act.map(|act| act.argv.clone()).unwrap_or_default(),
            steps: staged.acts().len(),
        })
    }
}

/// An act in short: `@complete JOB… 99`.
pub fn prompt(act: &Act, job: &JobId) -> String {
    let name = act.script.map_or("", Script::name);
    let args = (1..)
        .map_while(|at| act.arg(at))
        .map(|arg| if arg == job.to_string() { "JOB…".to_owned() } else { shell_word(&arg) });
    std::iter::once(format!("@{name}")).chain(args).collect::<Vec<_>>().join(" ")
}

/// What a reader types once, so that a server of theirs knows the scripts of these calls.
pub fn load_lines<'c>(calls: impl IntoIterator<Item = &'c Call<'static>>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for call in calls {
        let line = format!("valkey-cli -x SCRIPT LOAD < {}.lua", call.script.name());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// What a reader types first, for a server of their own: the scripts, then the calls that set the scene.
fn shell_lines(staged: &Staged, script: &'static Script) -> Vec<String> {
    let scene: Vec<Call<'static>> = staged.scene_moves().into_iter().map(|step| step.call).collect();
    let own = Call { script, keys: Vec::new(), args: Vec::new() };
    let calls = scene.iter().map(|call| snippet(Language::Shell, &call.evalsha()));
    load_lines(scene.iter().chain([&own])).into_iter().chain(calls).collect()
}

#[cfg(test)]
mod tests {
    use echomq_core::{EngineWire, Scripts};

    use super::Shown;
    use crate::session::listing::Mark;
    use crate::session::present::{Present, Verb};

    fn shown(token: &str) -> Shown {
        shown_of(Verb::Complete, token)
    }

    fn shown_of(verb: Verb, token: &str) -> Shown {
        let mut session = Present::new(Box::new(EngineWire::default().traced()), "page", 1, verb).unwrap();
        if !token.is_empty() {
            session.press(token).unwrap();
        }
        Shown::new(&mut session.staged_mut(), &Scripts::bundled().complete).unwrap()
    }

    #[test]
    fn before_the_first_act_there_is_a_scene_and_no_word() {
        let shown = shown("");
        assert_eq!((shown.place, &*shown.state, &*shown.attempts), ("active", "active", "1"));
        assert_eq!((shown.said, shown.steps, shown.listing.ran()), (None, 0, false));
        assert_eq!(shown.listing.header.len(), 15);
        assert_eq!(shown.listing.body[0].text, "if #KEYS ~= 6 or #ARGV ~= 2 then");
    }

    #[test]
    fn a_refusal_is_shown_with_the_line_that_made_it() {
        let shown = shown("99");
        let said = shown.said.clone().unwrap();
        assert_eq!((&*said.prompt, said.refused), ("@complete JOB… 99", true));
        assert_eq!(decided(&shown), ["  return redis.error_reply('EMQSTALE complete token mismatch')"]);
        let calls: Vec<_> = shown.listing.body.iter().flat_map(|line| &line.calls).collect();
        assert_eq!(calls.len(), 1);
        assert!(calls[0].command.starts_with("HGET 'emq:{page}:job:JOB"));
        assert_eq!((&*calls[0].reply, calls[0].wrote), ("\"1\"", false));
    }

    fn decided(shown: &Shown) -> Vec<&str> {
        let lines = shown.listing.body.iter().filter(|line| line.mark == Mark::Decided);
        lines.map(|line| &*line.text).collect()
    }

    /// What a function of the script has made is marked there, not where the script's last line hands it on.
    #[test]
    fn the_line_that_made_the_answer_is_marked() {
        let retry = |max: &str| Verb::Retry {
            delay_ms: "5000".into(),
            max_attempts: max.into(),
            error: "card declined".into(),
        };
        let refused = "    return redis.error_reply('EMQSTALE retry token mismatch')";
        assert_eq!(decided(&shown_of(retry("2"), "99")), [refused]);
        assert_eq!(decided(&shown_of(retry("2"), "1")), ["  return 'scheduled'"]);
        assert_eq!(decided(&shown_of(retry("1"), "1")), ["    return 'dead'"]);
        assert_eq!(decided(&shown_of(Verb::Complete, "1")), ["return 1"]);
    }

    #[test]
    fn a_server_is_prepared_as_the_stage_was() {
        let once = shown("").once;
        let loads: Vec<_> = once.iter().filter(|line| line.contains("LOAD")).collect();
        assert_eq!(loads.len(), 3, "{once:#?}");
        assert_eq!(loads[2], "valkey-cli -x SCRIPT LOAD < complete.lua");
        assert!(once[3].starts_with("valkey-cli EVALSHA ") && once[4].ends_with(" 30000"), "{once:#?}");
        assert_eq!(once.len(), 5);
    }

    #[test]
    fn a_retired_job_is_gone() {
        let shown = shown("1");
        assert_eq!((shown.place, &*shown.state, &*shown.attempts), ("gone", "", ""));
    }
}
