//! The sources of Valkey, of which only the tests are used: as Debian's pool has them, held to a digest.

use std::path::PathBuf;

use anyhow::Result;

use crate::{context::Context, packages::Need, run};

const VERSION: &str = "9.1.2";
const URL: &str = "http://deb.debian.org/debian/pool/main/v/valkey/valkey_9.1.2.orig.tar.gz";
const SHA256: &str = "8e8557da7426a51b4e0fb514a65ef6241dc7c85cb408243af389070abf379cec";

const TCL_NEED: Need =
    Need { what: "Tcl 8.5 or newer (tclsh)", debian: &["tcl"], fedora: "tcl", brew: "tcl-tk" };

const PYTHON_NEED: Need = Need { what: "Python 3", debian: &["python3"], fedora: "python3", brew: "python" };

/// Downloads, compares the digest, and unpacks without the folder that holds everything.
const FETCH: &str = "\
import hashlib, io, os, sys, tarfile, urllib.request
url, sha256, folder = sys.argv[1:]
archive = urllib.request.urlopen(url).read()
found = hashlib.sha256(archive).hexdigest()
if found != sha256: sys.exit(f'{url} has the digest {found}, and not {sha256}')
with tarfile.open(fileobj=io.BytesIO(archive)) as files:
    for file in files:
        file.name = file.name.partition('/')[2]
        if file.name == 'runtest' or file.name.startswith('tests/'): files.extract(file, folder)
";

pub fn folder(context: &Context) -> PathBuf {
    context.cache.join(format!("valkey-suite-{VERSION}"))
}

pub fn is_there(context: &Context) -> bool {
    let tcl = ["tclsh", "tclsh8.6", "tclsh8.5", "tclsh9.0"].iter().any(|tcl| context.find(tcl).is_some());
    tcl && folder(context).join("tests/unit/functions.tcl").is_file()
}

pub fn present(context: &Context) -> Option<String> {
    is_there(context).then(|| format!("of {VERSION}"))
}

pub fn install(context: &Context) -> Result<()> {
    if context.find("tclsh").is_none() {
        TCL_NEED.install(context)?;
    }
    if context.find("python3").is_none() {
        PYTHON_NEED.install(context)?;
    }
    let mut fetch = context.command("python3");
    fetch.args(["-c", FETCH, URL, SHA256]).arg(folder(context));
    run::run_logged(context, "valkey-suite", &mut fetch)
}
