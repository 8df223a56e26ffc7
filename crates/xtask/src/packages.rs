//! System packages: by apt where this is Debian or Ubuntu and we are root; elsewhere an error that says exactly
//! what to type.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, bail};

use crate::{context::Context, run};

/// One need, under the names that package managers have for it.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    pub what: &'static str,
    pub debian: &'static [&'static str],
    pub fedora: &'static str,
    pub brew: &'static str,
}

impl Need {
    /// Installs by apt, or says what to install.
    pub fn install(&self, context: &Context) -> Result<()> {
        if !has_apt(context) || !is_root() {
            bail!("{}", self.advice());
        }
        apt_install(context, self.debian)
            .with_context(|| format!("{} could not be installed. {}", self.what, self.advice()))
    }

    /// What a person types, on the systems that we know.
    pub fn advice(&self) -> String {
        format!(
            "{} is missing and this task may not install it here. Install it, then run the task again:\n  \
             Debian, Ubuntu: sudo apt-get update && sudo apt-get install {}\n  \
             Fedora:         sudo dnf install {}\n  \
             macOS:          brew install {}",
            self.what,
            self.debian.join(" "),
            self.fedora,
            self.brew
        )
    }
}

/// Installs Debian packages without their recommendations and without a question.
pub fn apt_install(context: &Context, packages: &[&str]) -> Result<()> {
    apt_update(context);
    let mut command = context.command("apt-get");
    command.args(["install", "-y", "--no-install-recommends"]).args(packages);
    command.env("DEBIAN_FRONTEND", "noninteractive");
    run::run_logged(context, &format!("apt-{}", packages[0]), &mut command)
}

/// Brings the package lists up to date, once per run. One unreachable source among good ones must not stop us:
/// whether the package can be had, the install tells.
pub fn apt_update(context: &Context) {
    if context.apt_updated.replace(true) {
        return;
    }
    let mut command = context.command("apt-get");
    command.arg("update");
    if let Err(error) = run::run_logged(context, "apt-update", &mut command) {
        println!("    warning: {error:#}");
    }
}

pub fn has_apt(context: &Context) -> bool {
    Path::new("/etc/debian_version").exists() && context.find("apt-get").is_some()
}

pub fn is_root() -> bool {
    // The owner of this process's own folder in /proc is its effective user.
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        fs::metadata("/proc/self").is_ok_and(|folder| folder.uid() == 0)
    }
    #[cfg(not(unix))]
    {
        false
    }
}

/// `VERSION_CODENAME` of /etc/os-release: `bookworm`, `trixie`, `noble` ….
pub fn codename() -> Option<String> {
    let text = fs::read_to_string("/etc/os-release").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    Some(line.trim_matches('"').to_owned())
}
