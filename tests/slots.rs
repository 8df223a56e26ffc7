//! The slot that the core computes is the one that the server names.

use echomq_core::{Keys, Reply, keys};
use emq_verify::server::{Options, Server};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Keys where hash tags are likely, odd and nested, and keys of any bytes; the same at each run.
fn generated_keys() -> Vec<Vec<u8>> {
    let tagged = "[{}a-c:]{0,12}".prop_map(String::into_bytes);
    let any_bytes = prop::collection::vec(any::<u8>(), 0..40);
    let strategy = prop_oneof![3 => tagged, 1 => any_bytes];
    let mut runner = TestRunner::deterministic();
    (0..1_000).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

fn chosen_keys() -> Vec<Vec<u8>> {
    let texts = [
        "",
        "{",
        "}",
        "{}",
        "{}a",
        "a{}b",
        "{}{a}",
        "{{a}}",
        "{a}{b}",
        "x{a}y{b}z",
        "}{a}",
        "{a",
        "a}",
        "{a}b}",
        "\u{0}{\u{0}}",
    ];
    let mut keys: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    for queue in ["mail", "a b", "ü", "x:y"] {
        let queue = Keys::new(queue).unwrap();
        keys.extend(queue.shared().map(String::into_bytes));
        keys.push(queue.row(&"JOB00000000001".parse().unwrap()).into_bytes());
    }
    keys
}

#[test]
fn slots_are_those_of_cluster_keyslot() {
    for binary in Server::binaries().unwrap() {
        let server = Server::start_with(&binary, &Options::default().cluster()).unwrap();
        let mut wire = server.connect().unwrap();
        let keys: Vec<Vec<u8>> = chosen_keys().into_iter().chain(generated_keys()).collect();
        let commands: Vec<[&[u8]; 3]> =
            keys.iter().map(|key| [b"CLUSTER".as_slice(), b"KEYSLOT", key]).collect();
        let replies = wire.pipeline(commands.iter().map(<[&[u8]; 3]>::as_slice)).unwrap();
        for (key, reply) in keys.iter().zip(replies) {
            let slot = keys::slot(key);
            assert_eq!(reply, Reply::Integer(slot.into()), "\"{}\"", key.escape_ascii());
        }
    }
}
