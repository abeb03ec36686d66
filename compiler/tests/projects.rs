//! Projects, from outside: packages in folders and in git repositories, the lock file, the cache, and what may go wrong
//! with them. The repositories are real, and made in a temporary folder.

mod common;

use common::{TOOLS_LIMIT, run_command};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use vlad::promises::Outcome;

/// A folder with packages, and a cache of its own.
struct World {
    folder: TempDir,
}

impl World {
    fn new(files: &[(&str, &str)]) -> World {
        World { folder: common::folder(files) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().expect("it has one")).expect("it can be made");
        fs::write(self.path(name), text).expect("it can be written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = common::vlad(arguments);
        command.current_dir(&self.folder).env("VLAD_CACHE", self.path("cache"));
        command
    }

    fn vlad(&self, arguments: &[&str]) -> Outcome {
        run_command(self.command(arguments), "", TOOLS_LIMIT)
    }

    /// What a program prints.
    fn run(&self, file: &str) -> String {
        let Outcome { code, output, messages } = self.vlad(&["run", "--native", file]);
        assert_eq!((code, messages.as_str()), (Some(0), ""), "{file}");
        output
    }

    /// What is said about a program, which has to be an error with that code.
    fn refused(&self, arguments: &[&str], code: &str) -> String {
        let Outcome { code: exit, messages, .. } = self.vlad(arguments);
        assert_eq!(exit, Some(1), "{messages}");
        assert!(messages.contains(&format!("error[{code}]")), "{code}: {messages}");
        assert_eq!(messages.matches("error[").count(), 1, "{messages}");
        messages
    }

    fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=master"]);
        command.arg("-C").arg(self.path(folder)).args(arguments).env("HOME", self.folder.path());
        let Outcome { code, output, messages } = run_command(command, "", TOOLS_LIMIT);
        assert_eq!(code, Some(0), "{arguments:?}: {messages}");
        output.trim().to_string()
    }

    /// Commits all of a folder; the name of the commit.
    fn commit(&self, folder: &str) -> String {
        if !self.path(folder).join(".git").exists() {
            self.git(folder, &["init", "--quiet"]);
        }
        self.git(folder, &["add", "--all"]);
        self.git(folder, &["commit", "--quiet", "--allow-empty", "--message", "more"]);
        self.git(folder, &["rev-parse", "HEAD"])
    }

    /// What the cache holds.
    fn cached(&self) -> Vec<String> {
        let names = common::names(&self.path("cache/packages"));
        names.into_iter().filter(|name| name != ".lock").collect()
    }
}

fn manifest(name: &str, dependencies: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n\n[dependencies]\n{dependencies}\n")
}

/// `fit` needs `stats` from git at `rev`, which needs `base` from git.
fn world(rev: &str) -> World {
    let world = World::new(&[
        ("base/vlad.toml", &manifest("base", "")),
        ("base/base.vlad", "(define (twice x) (* 2 x))\n"),
        ("base/more/deep.vlad", "(import \"../base\")\n(define (four-times x) (twice (twice x)))\n"),
        ("stats/stats.vlad", "(import \"base\")\n(import \"models\")\n(define (f x) (+ one (twice x)))\n"),
        ("stats/models.vlad", "(import \"base/more/deep\" (prefix d:))\n(define one 1)\n(define g d:four-times)\n"),
        (
            "fit/src/main.vlad",
            "(import \"stats\" (prefix s:))\n(import \"stats/models\")\n(list (s:f 10) (g 3))\n;=> (21 12)\n",
        ),
    ]);
    let base = world.commit("base");
    let url = format!("file://{}", world.path("base").display());
    world.write("stats/vlad.toml", &manifest("stats", &format!("base = {{ git = \"{url}\", rev = \"{base}\" }}")));
    world.commit("stats");
    world.git("stats", &["tag", "v1"]);
    world.write("fit/vlad.toml", &manifest("fit", &format!("stats = {{ git = \"../stats\", rev = \"{rev}\" }}")));
    world
}

#[test]
fn packages_in_folders_are_found_from_everywhere() {
    let world = World::new(&[
        ("fit one/vlad.toml", &manifest("fit", "a = { path = \"../ä \\\"b\\\" c\" }")),
        ("fit one/src/main.vlad", "(import \"a\")\n(import \"a/sub/more\" (only y))\n(list x y)\n"),
        (
            "ä \"b\" c/vlad.toml",
            "[package]\nname = \"a\"\nmodule = \"sub/start.vlad\"\n[dependencies.z-2]\npath = \"inner\"\n",
        ),
        ("ä \"b\" c/sub/start.vlad", "(import \"more\")\n(define x (+ y 1))\n(error \"not evaluated\")\n"),
        ("ä \"b\" c/sub/more.vlad", "(import \"z-2\")\n(define y (* 10 z))\n"),
        ("ä \"b\" c/inner/vlad.toml", "[package]\nname = \"z-2\"\n"),
        ("ä \"b\" c/inner/z-2.vlad", "(define z 4)\n"),
        ("link/note", ""),
    ]);
    assert_eq!(world.run("fit one/src/main.vlad"), "(41 40)\n");
    for (folder, file) in
        [("fit one", "src/main.vlad"), ("fit one/src", "main.vlad"), ("link", "../fit one/src/./main.vlad")]
    {
        let mut command = world.command(&["eval", file]);
        command.current_dir(world.path(folder));
        assert_eq!(run_command(command, "", TOOLS_LIMIT).output, "(41 40)\n", "{folder}");
    }
    let absolute = world.path("fit one/src/main.vlad");
    assert_eq!(world.run(absolute.to_str().expect("it is text")), "(41 40)\n");
    assert!(!world.path("fit one/vlad.lock").exists() && !world.path("cache").exists());
    // Folders are what they are.
    world.write("ä \"b\" c/inner/z-2.vlad", "(define z 5)\n");
    assert_eq!(world.run("fit one/src/main.vlad"), "(51 50)\n");
    fs::rename(world.path("ä \"b\" c"), world.path("moved")).expect("it is there");
    let said = world.refused(&["check", "fit one/src/main.vlad"], "V0504");
    assert!(said.contains("fit one/vlad.toml:6:1") && said.contains("main.vlad:1:1"), "{said}");
}

#[test]
fn two_levels_of_revisions_are_fetched_once_and_locked() {
    let world = world("v1");
    assert_eq!(world.run("fit/src/main.vlad"), "(21 12)\n");
    let lock = world.read("fit/vlad.lock");
    assert_eq!(lock.matches("[[package]]").count(), 2, "{lock}");
    let first = world.git("stats", &["rev-parse", "HEAD"]);
    assert!(lock.contains(&first), "{lock}");
    assert_eq!(world.cached().len(), 2);
    // The tag moves: nothing changes before `vlad update`.
    world.write("stats/models.vlad", "(define one 100)\n(define (g x) x)\n");
    let second = world.commit("stats");
    world.git("stats", &["tag", "--force", "v1"]);
    assert_eq!(world.run("fit/src/main.vlad"), "(21 12)\n");
    let update = |arguments: &[&str]| {
        let mut command = world.command(&[&["update"], arguments].concat());
        command.current_dir(world.path("fit/src"));
        run_command(command, "", TOOLS_LIMIT)
    };
    let outcome = update(&["base"]);
    assert!(outcome.output.starts_with("base: ") && outcome.output.ends_with(", as before\n"), "{}", outcome.output);
    assert_eq!(world.read("fit/vlad.lock"), lock);
    assert_eq!(update(&["stats"]).output, format!("stats: v1 is {second}, and was {first}\n"));
    assert_eq!(world.run("fit/src/main.vlad"), "(120 3)\n");
    assert_eq!(update(&[]).output.lines().count(), 2);
    // Everything is in the cache: neither the repositories nor git are needed.
    fs::remove_dir_all(world.path("stats")).expect("it is there");
    fs::remove_dir_all(world.path("base")).expect("it is there");
    let lock = world.read("fit/vlad.lock");
    for arguments in [&["run", "--locked"][..], &["eval"], &["check"], &["explain"], &["emit", "--stage", "core"]] {
        let mut command = world.command(&[arguments, &["fit/src/main.vlad"]].concat());
        command.env("PATH", "");
        let outcome = run_command(command, "", TOOLS_LIMIT);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}", outcome.messages);
    }
    assert_eq!(world.read("fit/vlad.lock"), lock);
    // What is not needed any more leaves the lock file.
    world.write("fit/vlad.toml", &manifest("fit", ""));
    let outcome = update(&[]);
    assert!(outcome.output.contains("stats: v1 is not needed any more"), "{}{}", outcome.output, outcome.messages);
    assert!(!world.path("fit/vlad.lock").exists());
    assert_eq!(update(&[]).output, "nothing to update: no dependency by git\n");
}

/// A revision may be a branch, a tag with an annotation, a commit, the beginning of its name, or one that no branch
/// leads to.
#[test]
fn revisions_are_named_in_many_ways() {
    let world = World::new(&[("one/vlad.toml", &manifest("one", "")), ("one/one.vlad", "(define x 1)\n")]);
    let first = world.commit("one");
    world.git("one", &["tag", "--annotate", "--message", "the first", "release/1.0+ü"]);
    world.git("one", &["checkout", "--quiet", "-b", "other"]);
    world.write("one/one.vlad", "(define x 2)\n");
    let second = world.commit("one");
    world.git("one", &["checkout", "--quiet", "--detach"]);
    world.write("one/one.vlad", "(define x 3)\n");
    let third = world.commit("one");
    world.git("one", &["checkout", "--quiet", "master"]);
    for (rev, value) in
        [("release/1.0+ü", 1), ("master", 1), (&first[..9], 1), (&first, 1), ("other", 2), (&second, 2), (&third, 3)]
    {
        let folder = format!("at-{value}-{}", rev.len());
        let dependency = format!("one = {{ git = \"file://{}\", rev = \"{rev}\" }}", world.path("one").display());
        world.write(&format!("{folder}/vlad.toml"), &manifest("at", &dependency));
        world.write(&format!("{folder}/main.vlad"), "(import \"one\")\nx\n");
        assert_eq!(world.run(&format!("{folder}/main.vlad")), format!("{value}\n"), "{rev}");
    }
    assert_eq!(world.cached().len(), 3);
}

#[test]
fn missing_revisions_and_repositories_are_errors() {
    for (git, rev, text) in [
        ("../stats", "v7", "has no revision `v7`"),
        ("../stats", "0123456789012345678901234567890123456789", "has no revision"),
        ("../nowhere", "v1", "git: "),
        ("file:///no where/at all", "v1", "git: "),
    ] {
        let world = world("v1");
        world.write("fit/vlad.toml", &manifest("fit", &format!("stats = {{ git = \"{git}\", rev = \"{rev}\" }}")));
        let said = world.refused(&["run", "fit/src/main.vlad"], "V0509");
        assert!(said.contains(text) && said.contains("fit/vlad.toml:6:1"), "{said}");
        assert!(!world.path("fit/vlad.lock").exists());
        assert_eq!(world.cached(), [""; 0], "nothing is left");
    }
    let world = world("v1");
    let mut command = world.command(&["run", "fit/src/main.vlad"]);
    command.env("PATH", "");
    let outcome = run_command(command, "", TOOLS_LIMIT);
    assert!(outcome.messages.contains("cannot fetch `stats` without git"), "{}", outcome.messages);
    assert_eq!(outcome.code, Some(1));
}

#[test]
fn what_git_could_take_for_an_option_is_refused() {
    for (git, rev) in [
        ("../stats", "--upload-pack=touch owned"),
        ("--upload-pack=touch owned", "v1"),
        ("../stats", "-v1"),
        ("", "v1"),
        ("../stats", "v1:refs/heads/x"),
        ("../stats", "v 1"),
        ("../stats\\u0000", "v1"),
        ("../stats\\n", "v1"),
    ] {
        let world = world("v1");
        world.write("fit/vlad.toml", &manifest("fit", &format!("stats = {{ git = \"{git}\", rev = \"{rev}\" }}")));
        world.refused(&["run", "fit/src/main.vlad"], "V0503");
        assert!(!world.path("owned").exists() && !world.path("cache").exists());
    }
    // Nor does git run programs that an address names.
    let world = world("v1");
    let owned = world.path("owned");
    let dependency = format!("stats = {{ git = \"ext::touch {}\", rev = \"v1\" }}", owned.display());
    world.write("fit/vlad.toml", &manifest("fit", &dependency));
    world.refused(&["run", "fit/src/main.vlad"], "V0509");
    assert!(!owned.exists());
}

#[test]
fn two_revisions_of_a_package_are_an_error_that_names_both() {
    let world = world("v1");
    world.write("base/base.vlad", "(define (twice x) (+ x x))\n");
    let other = world.commit("base");
    let url = format!("file://{}", world.path("base").display());
    let both =
        format!("base = {{ git = \"{url}\", rev = \"{other}\" }}\nstats = {{ git = \"../stats\", rev = \"v1\" }}");
    world.write("fit/vlad.toml", &manifest("fit", &both));
    let said = world.refused(&["run", "fit/src/main.vlad"], "V0505");
    for part in ["`fit` needs", "`stats` needs", "<stats>/vlad.toml:6:1", "fit/vlad.toml:6:1", &other[..12]] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // The same commit by another name is the same.
    world.git("base", &["tag", "first", "HEAD~1"]);
    world.write("fit/vlad.toml", &manifest("fit", &both.replace(&other, "first")));
    assert_eq!(world.run("fit/src/main.vlad"), "(21 12)\n");
    assert_eq!(world.read("fit/vlad.lock").matches("[[package]]").count(), 3);
    // A folder and a repository are two things.
    world.write(
        "fit/vlad.toml",
        &manifest("fit", "base = { path = \"../base\" }\nstats = { git = \"../stats\", rev = \"v1\" }"),
    );
    let said = world.refused(&["run", "fit/src/main.vlad"], "V0505");
    assert!(said.contains("`fit` needs the folder `../base`"), "{said}");
}

#[test]
fn circles_of_packages_are_errors() {
    let package = |name: &str, other: &str| manifest(name, &format!("{other} = {{ path = \"../{other}\" }}"));
    let world = World::new(&[
        ("a/vlad.toml", &package("a", "b")),
        ("a/main.vlad", "(import \"b\")\n"),
        ("b/vlad.toml", &package("b", "c")),
        ("b/b.vlad", "(import \"c\")\n"),
        ("c/vlad.toml", &package("c", "b")),
        ("c/c.vlad", "(define x 1)\n"),
    ]);
    let said = world.refused(&["check", "a/main.vlad"], "V0506");
    assert!(said.contains("`b` → `c` → `b`"), "{said}");
    world.write("c/vlad.toml", &package("c", "a"));
    assert!(world.refused(&["check", "a/main.vlad"], "V0506").contains("`a` → `b` → `c` → `a`"));
    world.write("a/vlad.toml", &package("a", "a"));
    world.write("a/main.vlad", "(import \"a\")\n");
    assert!(world.refused(&["check", "a/main.vlad"], "V0506").contains("`a` → `a`"));
}

#[test]
fn a_cache_that_was_changed_is_noticed_and_mended() {
    let world = world("v1");
    world.run("fit/src/main.vlad");
    let checkout = world.cached().into_iter().find(|name| name.starts_with("stats-")).expect("it was fetched");
    let models = format!("cache/packages/{checkout}/models.vlad");
    let mode = fs::metadata(world.path(&models)).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o222, 0, "nobody writes there by mistake");
    fs::remove_file(world.path(&models)).expect("it is there");
    world.write(&models, "(define one 666)\n(define (g x) x)\n");
    let said = world.refused(&["run", "fit/src/main.vlad"], "V0510");
    assert!(said.contains("`vlad update stats`") && said.contains(&checkout), "{said}");
    let mut command = world.command(&["update", "stats"]);
    command.current_dir(world.path("fit"));
    let outcome = run_command(command, "", TOOLS_LIMIT);
    assert!(outcome.output.ends_with(", as before\n"), "{}{}", outcome.output, outcome.messages);
    assert_eq!(world.run("fit/src/main.vlad"), "(21 12)\n");
    // So is a file that is one no more, one too many, and a link.
    let extra = world.path(&format!("cache/packages/{checkout}/extra"));
    symlink("/etc/passwd", &extra).expect("it is new");
    world.refused(&["run", "fit/src/main.vlad"], "V0510");
    fs::remove_file(&extra).expect("it is there");
    assert_eq!(world.run("fit/src/main.vlad"), "(21 12)\n");
    // What is fetched again is compared as well.
    let lock = world.read("fit/vlad.lock");
    let at = lock.rfind("sha256 = \"").expect("it is there") + 10;
    let wrong = format!("{}{}{}", &lock[..at], "0".repeat(64), &lock[at + 64..]);
    world.write("fit/vlad.lock", &wrong);
    fs::remove_dir_all(world.path("cache")).expect("it is there");
    world.refused(&["run", "fit/src/main.vlad"], "V0510");
    assert_eq!(world.read("fit/vlad.lock"), wrong);
}

#[test]
fn locked_refuses_to_change_the_lock_file() {
    let world = world("v1");
    let locked = ["run", "--locked", "fit/src/main.vlad"];
    let said = world.refused(&locked, "V0511");
    assert!(said.contains("fit/vlad.toml:6:1"), "{said}");
    assert!(!world.path("fit/vlad.lock").exists() && !world.path("cache").exists());
    world.run("fit/src/main.vlad");
    let lock = world.read("fit/vlad.lock");
    // With an empty cache it fetches what is locked.
    fs::remove_dir_all(world.path("cache")).expect("it is there");
    assert_eq!(world.vlad(&locked).output, "(21 12)\n");
    assert_eq!(world.vlad(&["test", "--locked", "fit/src/main.vlad"]).code, Some(0));
    let extra = lock.clone()
        + "\n[[package]]\nname = \"x\"\ngit = \"x\"\nrev = \"x\"\ncommit = \""
        + &"0".repeat(40)
        + "\"\nsha256 = \"x\"\n";
    world.write("fit/vlad.lock", &extra);
    world.refused(&locked, "V0511");
    assert_eq!(world.read("fit/vlad.lock"), extra);
    world.run("fit/src/main.vlad");
    assert_eq!(world.read("fit/vlad.lock"), lock);
    for broken in
        ["<<<<<<< HEAD\n", "version = 2\n", "version = 1\npackage = 3\n", "version = 1\n[[package]]\nname = 1\n"]
    {
        world.write("fit/vlad.lock", broken);
        let said = world.vlad(&["check", "fit/src/main.vlad"]);
        assert!(said.code == Some(1) && said.messages.contains("error[V0512]"), "{}", said.messages);
    }
    world.write("fit/vlad.lock", &lock.replace("commit = \"", "commit = \"../../"));
    world.refused(&["check", "fit/src/main.vlad"], "V0512");
}

#[test]
fn nothing_leads_out_of_a_package() {
    for (import, code) in [
        ("a/../secret", "V0508"),
        ("a/sub/../../secret", "V0508"),
        ("a/link", "V0508"),
        ("a/folder/secret", "V0508"),
        ("a/includes", "V0508"),
        ("a/imports", "V0508"),
        ("a/sub/../a", ""),
        ("a//etc/hosts", "V0229"),
        ("a/missing", "V0229"),
        ("a/", "V0229"),
    ] {
        let world = World::new(&[
            ("fit/vlad.toml", &manifest("fit", "a = { path = \"../a\" }")),
            ("fit/main.vlad", &format!("(import \"{import}\")\n")),
            ("a/vlad.toml", &manifest("a", "")),
            ("a/a.vlad", "(define x 1)\n"),
            ("a/sub/more.vlad", ""),
            ("a/includes.vlad", "(include \"../secret\")\n"),
            ("a/imports.vlad", "(import \"../secret\")\n"),
            ("secret.vlad", "(define x 2)\n"),
            ("other/secret.vlad", "(define x 2)\n"),
        ]);
        symlink("../secret.vlad", world.path("a/link.vlad")).expect("it is new");
        symlink("../other", world.path("a/folder")).expect("it is new");
        match code {
            "" => assert_eq!(world.run("fit/main.vlad"), ""),
            code => drop(world.refused(&["check", "fit/main.vlad"], code)),
        }
    }
    let world = World::new(&[
        ("fit/vlad.toml", &manifest("fit", "a = { path = \"../a\" }")),
        ("fit/main.vlad", "(import \"a\")\n"),
        ("a/vlad.toml", "[package]\nname = \"a\"\nmodule = \"/etc/hosts\"\n"),
    ]);
    world.refused(&["check", "fit/main.vlad"], "V0508");
    // What a repository links to is not there.
    symlink("../../../../secret.vlad", world.path("a/link.vlad")).expect("it is new");
    world.write("a/vlad.toml", &manifest("a", "b = { path = \"../b\" }"));
    let rev = world.commit("a");
    world.write("fit/vlad.toml", &manifest("fit", &format!("a = {{ git = \"../a\", rev = \"{rev}\" }}")));
    assert!(world.refused(&["check", "fit/main.vlad"], "V0508").contains("outside the repository"));
    world.write("a/vlad.toml", &manifest("a", "b = { path = \"b\" }"));
    world.write("a/b/vlad.toml", &manifest("b", ""));
    world.write("a/b/b.vlad", "(define y 3)\n");
    world.write("a/a.vlad", "(provide y)\n(import \"b\")\n");
    let rev = world.commit("a");
    world.write("fit/vlad.toml", &manifest("fit", &format!("a = {{ git = \"../a\", rev = \"{rev}\" }}")));
    world.write("fit/main.vlad", "(import \"a\")\ny\n");
    assert_eq!(world.run("fit/main.vlad"), "3\n");
    let link = world.path(&format!("cache/packages/a-{rev}/link.vlad"));
    assert!(fs::symlink_metadata(link).expect("it is there").is_file());
}

#[test]
fn a_name_is_a_file_or_a_dependency() {
    let world = World::new(&[
        ("fit/vlad.toml", &manifest("fit", "a = { path = \"../a\" }\nb = { path = \"b\" }")),
        ("fit/main.vlad", "(import \"a\")\n"),
        ("fit/here.vlad", "(import \"./a\")\nx\n"),
        ("fit/suffix.vlad", "(import \"a.vlad\")\nx\n"),
        ("fit/inner.vlad", "(import \"b/b\")\n(import \"./b/b\" (prefix c:))\n(list x c:x)\n"),
        ("fit/other.vlad", "(import \"main\")\n(import \"unknown\")\n"),
        ("fit/a.vlad", "(define x 1)\n"),
        ("fit/b/vlad.toml", &manifest("b", "")),
        ("fit/b/b.vlad", "(define x 3)\n"),
        ("a/vlad.toml", &manifest("a", "")),
        ("a/a.vlad", "(define x 2)\n"),
    ]);
    let said = world.refused(&["check", "fit/main.vlad"], "V0507");
    assert!(said.contains("fit/a.vlad"), "{said}");
    assert_eq!(world.run("fit/here.vlad"), "1\n");
    assert_eq!(world.run("fit/suffix.vlad"), "1\n");
    assert_eq!(world.run("fit/inner.vlad"), "(3 3)\n");
    fs::remove_file(world.path("fit/a.vlad")).expect("it is there");
    assert_eq!(world.run("fit/main.vlad"), "");
    world.refused(&["check", "fit/other.vlad"], "V0229");
    // A package sees what it names, and nothing else.
    world.write("a/a.vlad", "(import \"b\")\n");
    let said = world.refused(&["check", "-I", "fit/b", "fit/main.vlad"], "V0229");
    assert!(said.contains("a.vlad:1:1"), "{said}");
}

#[test]
fn mistakes_in_manifests_are_shown_where_they_are() {
    let world = World::new(&[("main.vlad", "(import \"a\")\n")]);
    let wrong = "\
[package]
nmae = \"fit\"
version = \"1\"
module = 3

[dependencies]
a = \"1.0\"
b = { git = \"../b\" }
c = { path = \"../c\", git = \"../c\", rev = \"v1\" }
d = { pth = \"../d\" }
\"../e\" = { path = \"../e\" }
library = { path = \"../f\" }
g = { path = true }

[dependency]
";
    world.write("vlad.toml", wrong);
    insta::assert_snapshot!(world.vlad(&["check", "main.vlad"]).messages);
    for (text, code) in [
        ("[package\n", "V0501"),
        ("name = 1\nname = 2\n", "V0501"),
        ("", "V0503"),
        ("package = 3\n", "V0503"),
        ("[package]\nname = \"a b\"\n", "V0503"),
        ("[package]\nname = \"\"\n", "V0503"),
        ("[package]\nname = \"fit\"\nversion = \"1.0\"\n", "V0503"),
        ("[package]\nname = \"fit\"\ndependencies = 3\n", "V0502"),
        ("dependencies = 3\n[package]\nname = \"fit\"\n", "V0503"),
    ] {
        world.write("vlad.toml", text);
        world.refused(&["check", "main.vlad"], code);
    }
    fs::write(world.path("vlad.toml"), b"[package]\nname = \"\xff\"\n").expect("it can be written");
    world.refused(&["check", "main.vlad"], "V0501");
    // Whoever imports nothing needs no manifest, and none is read.
    world.write("alone.vlad", "(* 6 7)\n");
    assert_eq!(world.run("alone.vlad"), "42\n");
    // A package is called as it says.
    world.write("vlad.toml", &manifest("fit", "a = { path = \"d\" }"));
    world.write("d/vlad.toml", &manifest("d", ""));
    assert!(world.refused(&["check", "main.vlad"], "V0504").contains("called `d` there"));
}

#[test]
fn processes_may_fetch_at_the_same_time_and_be_interrupted() {
    let world = world("v1");
    // What an interrupted one would leave.
    world.write("cache/packages/unfinished-x/files/half", "");
    let start = || -> Child {
        let mut command = world.command(&["run", "fit/src/main.vlad"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let mut killed = start();
    std::thread::sleep(std::time::Duration::from_millis(30));
    killed.kill().expect("it may have ended");
    killed.wait().expect("it was started");
    let all: Vec<Child> = (0..6).map(|_| start()).collect();
    for process in all {
        let output = process.wait_with_output().expect("it was started");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), said.as_str()), ("(21 12)\n", ""));
    }
    assert_eq!(world.cached().len(), 2, "{:?}", world.cached());
}

/// What the settings of git say, or an environment that another git has made, changes nothing.
#[test]
fn executables_and_locks_are_the_same_everywhere() {
    let world = world("v1");
    world.write("stats/.gitattributes", "*.vlad text eol=crlf ident filter=shout\n");
    world.write(
        "stats/stats.vlad",
        "; $Id$\r\n(import \"base\")\n(define (f x) (+ 1 (twice x)))\n(define (bad x) (vector-ref #(1 2) x))\n",
    );
    world.commit("stats");
    world.git("stats", &["tag", "--force", "v1"]);
    world.write("fit/src/main.vlad", "(import \"stats\")\n(f (read-real))\n(bad (read-real))\n");
    world.write("strange/.gitconfig", "[core]\nautocrlf = true\n[filter \"shout\"]\nsmudge = tr a-z A-Z\n");
    world.git("base", &["rev-parse", "HEAD"]);
    let mut made = Vec::new();
    for (name, home) in [("one", "usual"), ("two", "strange")] {
        let copy = format!("{name}/fit");
        fs::create_dir_all(world.path(&copy).join("src")).expect("it is new");
        for file in ["vlad.toml", "src/main.vlad"] {
            let text = world.read(&format!("fit/{file}")).replace("../stats", "../../stats");
            world.write(&format!("{copy}/{file}"), &text);
        }
        let mut command = world.command(&["build", "--native", "src/main.vlad", "-o", "main"]);
        command.current_dir(world.path(&copy)).env("VLAD_CACHE", world.path(&format!("{name}-cache")));
        command.env("HOME", world.path(home)).env("GIT_DIR", world.path("base/.git")).env("GIT_INDEX_FILE", "x");
        let outcome = run_command(command, "", TOOLS_LIMIT);
        assert_eq!((outcome.code, outcome.messages.as_str()), (Some(0), ""));
        let executable = world.path(&format!("{copy}/main"));
        let outcome = run_command(Command::new(&executable), "3 4\n", TOOLS_LIMIT);
        assert_eq!(outcome.output, "7\n");
        assert!(outcome.messages.contains("<stats>/stats.vlad:4:"), "{}", outcome.messages);
        made.push((fs::read(executable).expect("it is there"), world.read(&format!("{copy}/vlad.lock"))));
    }
    assert!(made[0] == made[1], "they differ");
}

/// A program that is evaluated carries its packages with it.
#[test]
fn every_command_finds_dependencies() {
    let world = world("v1");
    let main = "fit/src/main.vlad";
    world.write(
        "fit/src/main.vlad",
        "(import \"stats\")\n(export f ((x real)))\n(define (h x) (f x))\n(h 10)\n;=> 21\n",
    );
    for arguments in [
        &["run", main][..],
        &["run", "--back-end", "c", main],
        &["eval", main],
        &["check", main],
        &["gradcheck", main],
        &["test", main],
        &["explain", main],
        &["explain", "--derivative", "h", main],
        &["emit", "--stage", "opt", main],
        &["build", "--lib", "static", main, "-o", "made"],
        &["fmt", "--check", main],
        &["doc", main],
    ] {
        let Outcome { code, messages, .. } = world.vlad(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {messages}");
    }
    let mut repl = world.command(&["repl"]);
    repl.current_dir(world.path("fit"));
    assert_eq!(run_command(repl, "(import \"stats\")\n(f 1)\n", TOOLS_LIMIT).output, "3\n");
    // No analysis ends here, so the executable holds the evaluator.
    let text = "(import \"stats/models\")\n\
                (define (nest n) (if (= n 0) g (let ((f (nest (- n 1)))) (lambda (x) (f (f x))))))\n\
                ((nest (read-real)) 1)\n";
    world.write("fit/src/nest.vlad", text);
    let outcome = world.vlad(&["build", "--limit", "instructions=1", "fit/src/nest.vlad", "-o", "nest"]);
    assert!(outcome.messages.contains("warning"), "{}", outcome.messages);
    fs::remove_dir_all(world.path("cache")).expect("it is there");
    fs::remove_dir_all(world.path("fit")).expect("it is there");
    let outcome = run_command(Command::new(world.path("nest")), "1\n", TOOLS_LIMIT);
    assert_eq!((outcome.output.as_str(), outcome.messages.as_str()), ("16\n", ""));
}

#[test]
fn updates_need_a_project() {
    let world = world("v1");
    let outcome = world.vlad(&["update"]);
    assert!(outcome.code == Some(2) && outcome.messages.contains("error[V0514]"), "{}", outcome.messages);
    let mut command = world.command(&["update", "stast"]);
    command.current_dir(world.path("fit"));
    let outcome = run_command(command, "", TOOLS_LIMIT);
    assert!(outcome.code == Some(1) && outcome.messages.contains("did you mean `stats`?"), "{}", outcome.messages);
    // A cache that cannot be written is an error, too.
    world.write("file", "");
    let mut command = world.command(&["run", "fit/src/main.vlad"]);
    fs::remove_file(world.path("fit/vlad.lock")).expect("it was written");
    command.env("VLAD_CACHE", world.path("file"));
    let outcome = run_command(command, "", TOOLS_LIMIT);
    assert!(outcome.code == Some(1) && outcome.messages.contains("error[V0513]"), "{}", outcome.messages);
}

/// The names of folders that `vlad new` makes manifests for.
#[test]
fn new_folders_are_packages() {
    let world = World::new(&[("main.vlad", "")]);
    for (folder, package) in
        [("plain", "plain"), ("2nd try", "nd-try"), ("straße", "stra-e"), ("library", "program"), ("7", "program")]
    {
        assert_eq!(world.vlad(&["new", folder]).code, Some(0));
        assert!(world.read(&format!("{folder}/vlad.toml")).contains(&format!("name = \"{package}\"")), "{folder}");
        world.write("vlad.toml", &manifest("fit", &format!("{package} = {{ path = \"{folder}\" }}")));
        world.write("main.vlad", &format!("(import \"{package}\")\n((line '(2 1)) 3)\n"));
        assert_eq!(world.run("main.vlad"), "7\n", "{folder}");
    }
    assert!(Path::new(&world.path("plain/vlad.toml")).is_file());
}
