//! A fixed number of generated dialogues and scripts, with fixed seeds, on every real server at hand; and what
//! `emq-verify fuzz` makes of a difference.

use emq_verify::cases::{Clients as _, EngineClients, release};
use emq_verify::fuzz::{Dialogue, Generator, LEFT_OUT, Line, Pair, Step, What, shrink};
use emq_verify::server::Server;

/// Dialogues that go to the server at once.
const BATCH: u64 = 32;

fn pairs() -> Vec<Pair> {
    let servers = Server::all().unwrap();
    assert!(!servers.is_empty());
    servers.into_iter().map(|server| Pair::new(server).unwrap()).collect()
}

#[track_caller]
fn check(what: What, seed: u64, dialogues: u64) {
    for mut pair in pairs() {
        let generator = Generator::of(what, &mut pair).unwrap();
        for first in (0..dialogues).step_by(BATCH as usize) {
            let batch: Vec<Dialogue> =
                (first..first + BATCH).map(|number| generator.dialogue(seed, number).unwrap()).collect();
            let answers = pair.run(&generator, &batch).unwrap();
            for (dialogue, answers) in batch.iter().zip(answers) {
                if answers.differs_at.is_none() || !pair.differs(&generator, dialogue).unwrap() {
                    continue;
                }
                let shortest = shrink(&mut pair, &generator, dialogue).unwrap();
                let answers = pair.run(&generator, std::slice::from_ref(&shortest)).unwrap().remove(0);
                let case = generator.as_case("shrunk", &shortest, &answers.ours, &answers.theirs);
                panic!("seed {seed}, on valkey {}:\n{case}", pair.version());
            }
        }
    }
}

#[test]
fn generated_commands_are_answered_alike() {
    check(What::Commands, 20_250_601, 3_200);
}

#[test]
fn generated_scripts_are_answered_alike() {
    check(What::Scripts, 20_250_601, 3_200);
}

fn words(line: &str) -> Step {
    Step { client: 0, line: Line::Words(emq_verify::cases::split(line).unwrap()) }
}

/// A difference on purpose: a server knows this command, the engine does not.
#[test]
fn a_difference_is_shrunk_to_what_it_needs() {
    let mut pair = pairs().remove(0);
    let generator = Generator::of(What::Commands, &mut pair).unwrap();
    let lines = ["SET a 1", "PFADD missing x", "SET b 2 EX 100 NX", "GET a", "GET b"];
    let dialogue = Dialogue { protocol: 3, steps: lines.map(words).into() };
    let shortest = shrink(&mut pair, &generator, &dialogue).unwrap();
    let answers = pair.run(&generator, std::slice::from_ref(&shortest)).unwrap().remove(0);
    assert_eq!(answers.differs_at, Some(0));
    let case = generator.as_case("found", &shortest, &answers.ours, &answers.theirs);
    let expected = r#"[[case]]
name = 'found'
steps = [
    # The engine: (error) ERR unknown command 'PFADD', with args beginning with: 
    { send = 'PFADD', expect = "(error) ERR wrong number of arguments for 'pfadd' command" },
]
"#;
    let expected = expected.replace("\\n", "\n");
    assert_eq!(case, expected);
}

/// Every command of the engine is generated, or there is a reason why not.
#[test]
fn the_grammar_has_every_command() {
    let newest = pairs().into_iter().max_by_key(|pair| release(pair.version())).unwrap();
    let mut engine = EngineClients::of_release(newest.version());
    let names = engine.call(0, &[b"COMMAND", b"LIST"]).unwrap().to_string();
    let names: Vec<&str> = names.lines().filter_map(|line| line.split('"').nth(1)).collect();
    assert!(names.len() > 150, "{} commands", names.len());
    let generator = Generator::new(What::Commands, |_| false).unwrap();
    let rules: Vec<&str> = generator.names().collect();
    let is_there = |name: &str| {
        let of_container = |known: &str| known.split('|').next() == Some(name);
        rules.iter().any(|rule| of_container(rule))
            || LEFT_OUT.iter().any(|(left_out, _)| of_container(left_out))
    };
    let missing: Vec<&str> = names.into_iter().filter(|name| !is_there(name)).collect();
    assert_eq!(missing, [""; 0], "add a rule to commands.grammar, or a reason to LEFT_OUT");
    let both: Vec<&str> = LEFT_OUT
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| rules.contains(name) && !name.starts_with("eval"))
        .collect();
    assert_eq!(both, [""; 0], "left out, and generated");
}
