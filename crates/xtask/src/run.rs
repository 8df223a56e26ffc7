//! Running programs: loudly (a test's output is the point), or into a log with a sign of life (an install's
//! output matters only when it fails).

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Write},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use crate::context::Context;

/// A child that works for longer than this says that it is alive.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Runs with the terminal's own streams; an error names the command.
pub fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs, passes every line of both streams on, and returns them.
pub fn run_and_keep(command: &mut Command) -> Result<Vec<String>> {
    println!("$ {}", shown(command));
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    let errors = child.stderr.take().map(|stream| thread::spawn(move || pass_on(stream)));
    let mut lines = child.stdout.take().map(pass_on).unwrap_or_default();
    if let Some(errors) = errors {
        lines.extend(errors.join().unwrap_or_default());
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(lines)
}

/// Runs silently and returns what was printed; an error carries the other stream.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        bail!(
            "{} ended with {}\n{}{}",
            shown(command),
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs into `<cache>/log/<name>.log`, saying every few seconds where it is; an error carries the log's end.
pub fn run_logged(context: &Context, name: &str, command: &mut Command) -> Result<()> {
    println!("    $ {}", shown(command));
    let folder = context.cache.join("log");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let path = folder.join(format!("{name}.log"));
    let log = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    let start = Instant::now();
    let mut spoken = start;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if spoken.elapsed() >= SIGN_OF_LIFE {
            spoken = Instant::now();
            let last = last_lines(&path, 1);
            println!("    … {} s: {}", start.elapsed().as_secs(), last.trim());
        }
        thread::sleep(Duration::from_millis(100));
    };
    if !status.success() {
        bail!(
            "{} ended with {status}; the end of {}:\n{}",
            shown(command),
            path.display(),
            last_lines(&path, 30)
        );
    }
    Ok(())
}

/// The command as a person would type it.
pub fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut text = program.file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        let argument = argument.to_string_lossy();
        if argument.contains([' ', '\n', '\'', ';', '*']) {
            text.push_str(&format!("'{}'", argument.replace('\n', " ")));
        } else {
            text.push_str(&argument);
        }
    }
    text
}

fn pass_on(stream: impl io::Read) -> Vec<String> {
    let mut lines = Vec::new();
    for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        // A closed terminal must not stop the child from being waited for.
        let _ = writeln!(io::stdout(), "{line}");
        lines.push(line);
    }
    lines
}

fn last_lines(path: &std::path::Path, count: usize) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
