//! The project's tasks. `cargo xtask serve` and `cargo xtask test` need nothing but Rust on a fresh machine:
//! each calls `setup` for what it needs first.
//!
//! No product logic lives here. Everything a task runs gets the tools' folders on PATH, so that a tool that
//! `setup` put into the cache and one that was there before are found the same way.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks on its terminal")]

mod bench;
mod browser;
mod budget;
mod ci;
mod clients;
mod context;
mod packages;
mod run;
mod setup;
mod suite;
mod tidy;
mod tools;
mod valkey;
mod web;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Arg, ArgAction, ArgMatches, Command};
use context::Context;
use setup::Group;

fn main() -> ExitCode {
    let matches = command().get_matches();
    match dispatch(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Command {
    let only = Arg::new("only")
        .long("only")
        .value_name("STEP")
        .action(ArgAction::Append)
        .help("Run only this step (may be given more than once)");
    let list = Arg::new("list").long("list").action(ArgAction::SetTrue).help("List the steps and stop");
    Command::new("cargo xtask")
        .about("EchoMQ Lab's tasks")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("setup")
                .about("Install what is missing; says what it does and how long it took")
                .arg(
                    Arg::new("for")
                        .long("for")
                        .value_name("GROUP")
                        .value_parser(["serve", "test", "all"])
                        .default_value("all")
                        .help("Install only what serving, or what testing needs"),
                ),
        )
        .subcommand(
            Command::new("serve")
                .about("Build the pages and serve them on 127.0.0.1, rebuilding when a file changes")
                .arg(
                    Arg::new("port")
                        .long("port")
                        .default_value("8080")
                        .value_parser(clap::value_parser!(u16))
                        .help("The port to listen on"),
                )
                .arg(
                    Arg::new("open")
                        .long("open")
                        .action(ArgAction::SetTrue)
                        .help("Open the page in a browser"),
                )
                .arg(
                    Arg::new("dev")
                        .long("dev")
                        .action(ArgAction::SetTrue)
                        .help("Build without optimising: quicker to rebuild, larger to load"),
                ),
        )
        .subcommand(
            Command::new("test")
                .about("Check everything, failing at the first step that is red")
                .args([only.clone(), list.clone()]),
        )
        .subcommand(
            Command::new("ci")
                .about("The same as test, with Cargo.lock held fixed and plain output")
                .args([only, list]),
        )
        .subcommand(Command::new("tidy").about("Check the style rules that are code; prints file:line"))
        .subcommand(
            Command::new("build")
                .about("Build the optimised pages into dist/ and the npm package into target/npm/"),
        )
        .subcommand(
            Command::new("minify").about("Shorten the JavaScript of a build; Trunk calls this").hide(true),
        )
        .subcommand(
            Command::new("budget").about("Weigh what a page fetches against the budget (after a build)"),
        )
        .subcommand(
            Command::new("valkey-suite").about("Run Valkey's own Tcl tests against emq-verify serve").arg(
                Arg::new("file")
                    .value_name("FILE")
                    .action(ArgAction::Append)
                    .help("Run only this file, such as unit/type/list (may be given more than once)"),
            ),
        )
        .subcommand(
            Command::new("bench")
                .about("Measure the engine, Valkey and the peers; writes docs/performance.md"),
        )
}

fn dispatch(matches: &ArgMatches) -> Result<()> {
    let (name, arguments) = matches.subcommand().context("clap asks for a subcommand")?;
    // A build machine must use the versions that were committed; it says what it is by the usual variable.
    let context = Context::new(name == "ci" || std::env::var_os("CI").is_some())?;
    match name {
        "setup" => {
            let group = match arguments.get_one::<String>("for").map(String::as_str) {
                Some("serve") => Group::Serve,
                Some("test") => Group::Test,
                _ => Group::All,
            };
            setup::setup(&context, group)
        }
        "serve" => {
            setup::setup(&context, Group::Serve)?;
            let port = arguments.get_one::<u16>("port").copied().unwrap_or(8080);
            web::serve(&context, port, arguments.get_flag("open"), arguments.get_flag("dev"))
        }
        "test" | "ci" if arguments.get_flag("list") => {
            ci::list();
            Ok(())
        }
        "test" | "ci" => {
            let only: Vec<&str> =
                arguments.get_many::<String>("only").unwrap_or_default().map(String::as_str).collect();
            ci::test(&context, &only)
        }
        "tidy" => tidy::tidy(&context),
        "build" => {
            setup::setup(&context, Group::Serve)?;
            web::build_pages(&context)?;
            web::build_package(&context)?;
            budget::budget(&context)
        }
        "minify" => web::minify(&context),
        "budget" => budget::budget(&context),
        "valkey-suite" => {
            let only: Vec<&str> =
                arguments.get_many::<String>("file").unwrap_or_default().map(String::as_str).collect();
            suite::suite(&context, &only)
        }
        _ => {
            setup::setup(&context, Group::Test)?;
            bench::bench(&context)
        }
    }
}
