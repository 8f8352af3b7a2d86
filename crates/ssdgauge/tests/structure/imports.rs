//! Imports between the source files of a crate: which file names which, what of it runs against a
//! table of allowed edges, and which files form a circle.
//!
//! A file is its path below `src`. An edge leads from a file to the file that defines a name which
//! it takes by `use` or by a path (`crate::…`, `super::…`, a child module). A re-export (`pub use`)
//! is a table of contents: it is not an edge of its own, and a name taken through it leads to the file
//! that defines it. Unit tests and comments are left out. Calls of methods are not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module by the names that lead to it from the root of its crate.
type Module = Vec<String>;

/// The source files of one crate, without their tests.
pub(crate) struct Sources {
    /// The file and the words of each module.
    modules: BTreeMap<Module, (String, Vec<String>)>,
}

impl Sources {
    /// Reads every file below the folder `src`.
    pub(crate) fn read(src: &Path) -> Sources {
        let mut files = Vec::new();
        let mut folders = vec![src.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let name = path.strip_prefix(src).unwrap().display().to_string();
                    files.push((name, fs::read_to_string(&path).unwrap()));
                }
            }
        }
        assert!(!files.is_empty(), "no source in {}", src.display());
        Sources::from_texts(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }

    /// Takes files by name and text.
    pub(crate) fn from_texts<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Sources {
        let mut modules = BTreeMap::new();
        for (name, text) in files {
            let is_test = name.ends_with("tests.rs") || name.contains("tests/");
            if !is_test {
                modules.insert(module_of(name), (name.to_owned(), words(text)));
            }
        }
        Sources { modules }
    }

    /// Returns every edge, from file to file.
    pub(crate) fn edges(&self) -> BTreeSet<(String, String)> {
        let paths: BTreeMap<&Module, Paths> =
            self.modules.iter().map(|(module, (_, words))| (module, Paths::find(words))).collect();
        let mut edges = BTreeSet::new();
        for (module, (file, _)) in &self.modules {
            let paths_here = &paths[module];
            let mut aliases = BTreeMap::new();
            let mut targets = BTreeSet::new();
            for path in &paths_here.imports {
                if let Some((target, is_whole)) = self.resolve(module, path, &paths, 0) {
                    let alias = path.last().filter(|_| is_whole).cloned();
                    aliases.extend(alias.map(|alias| (alias, target.clone())));
                    targets.insert(target);
                }
            }
            for path in &paths_here.inline {
                let target = match aliases.get(&path[0]) {
                    Some(alias) => self.descend(alias.clone(), &path[1..], &paths, 0),
                    None => self.resolve(module, path, &paths, 0),
                };
                targets.extend(target.map(|(target, _)| target));
            }
            for target in targets.iter().filter(|target| *target != module) {
                edges.insert((file.clone(), self.modules[target].0.clone()));
            }
        }
        edges
    }

    /// Returns the module that defines the name at the end of `path`, which is in `module`, and
    /// whether the path means the module itself.
    fn resolve(
        &self,
        module: &Module,
        path: &[String],
        paths: &BTreeMap<&Module, Paths>,
        depth: usize,
    ) -> Option<(Module, bool)> {
        let mut start = module.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (start, rest) = (Module::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while let Some(("super", after)) =
                    rest.split_first().map(|(word, after)| (word.as_str(), after))
                {
                    start.pop()?;
                    rest = after;
                }
            }
            first => {
                let mut child = module.clone();
                child.push(first.to_owned());
                self.modules.get(&child)?;
            }
        }
        self.descend(start, rest, paths, depth)
    }

    fn descend(
        &self,
        mut module: Module,
        rest: &[String],
        paths: &BTreeMap<&Module, Paths>,
        depth: usize,
    ) -> Option<(Module, bool)> {
        for (number, word) in rest.iter().enumerate() {
            let mut child = module.clone();
            child.push(word.clone());
            if self.modules.contains_key(&child) {
                module = child;
                continue;
            }
            let reexports = paths.get(&module).map_or(&[][..], |paths| &paths.reexports);
            let through = reexports.iter().find(|path| path.last() == Some(word));
            // Re-exports of re-exports end somewhere; a limit in case they do not.
            if let (Some(through), true) = (through, depth < 8) {
                let (target, is_whole) = self.resolve(&module, through, paths, depth + 1)?;
                return match is_whole {
                    true => self.descend(target, &rest[number + 1..], paths, depth + 1),
                    false => Some((target, false)),
                };
            }
            return self.modules.contains_key(&module).then_some((module, false));
        }
        self.modules.contains_key(&module).then_some((module, true))
    }

    /// Returns each edge between two rooms (modules at the root) that `allowed` does not list, and
    /// each entry of `allowed` that no import uses. The root itself may import every room.
    pub(crate) fn violations(&self, allowed: &[(&str, &[&str])]) -> Vec<String> {
        let mut unused: BTreeSet<(&str, &str)> =
            allowed.iter().flat_map(|(from, to)| to.iter().map(|to| (*from, *to))).collect();
        let mut violations = Vec::new();
        let edges = self.edges();
        for (from, to) in &edges {
            let (room, other) = (room_of(from), room_of(to));
            if room == other || room == "lib" {
                continue;
            }
            let is_allowed = allowed.iter().any(|(from, to)| *from == room && to.contains(&other));
            if !is_allowed {
                violations.push(format!("{from} imports {to}"));
            }
            unused.remove(&(room, other));
        }
        violations.extend(unused.iter().map(|(from, to)| format!("{from} -> {to} is not used")));
        violations
    }

    /// Returns each circle: a set of files that all reach each other.
    pub(crate) fn circles(&self) -> Vec<Vec<String>> {
        circles_of(&self.edges())
    }

    /// Returns each circle of rooms: modules of one parent, each with everything below it, that all reach each
    /// other. Without one, the modules of every parent are in floors, and no import leads up.
    pub(crate) fn circles_of_rooms(&self) -> Vec<Vec<String>> {
        let mut by_parent: BTreeMap<Module, Edges> = BTreeMap::new();
        for (from, to) in self.edges() {
            let (from, to) = (module_of(&from), module_of(&to));
            let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            // An import between a module and one of those below it stays within a room.
            if common < from.len() && common < to.len() {
                let room = |module: &Module| module[..=common].join("/");
                by_parent
                    .entry(from[..common].to_vec())
                    .or_default()
                    .insert((room(&from), room(&to)));
            }
        }
        by_parent.values().flat_map(circles_of).collect()
    }
}

/// From and to, each by its name.
type Edges = BTreeSet<(String, String)>;

/// Returns each set of names that all reach each other.
fn circles_of(edges: &Edges) -> Vec<Vec<String>> {
    let reached = |start: &str| {
        let mut reached = BTreeSet::new();
        let mut open = vec![start.to_owned()];
        while let Some(name) = open.pop() {
            for (_, to) in edges.iter().filter(|(from, _)| *from == name) {
                if reached.insert(to.clone()) {
                    open.push(to.clone());
                }
            }
        }
        reached
    };
    let names: BTreeSet<&String> = edges.iter().map(|(from, _)| from).collect();
    let reach: BTreeMap<&String, BTreeSet<String>> =
        names.iter().map(|name| (*name, reached(name))).collect();
    let circles: BTreeSet<Vec<String>> = names
        .iter()
        .filter(|name| reach[**name].contains(**name))
        .map(|name| {
            let is_mutual =
                |other: &&String| reach.get(*other).is_some_and(|back| back.contains(*name));
            reach[*name].iter().filter(is_mutual).cloned().collect()
        })
        .collect();
    circles.into_iter().collect()
}

/// Returns the module at the root that contains `file`.
fn room_of(file: &str) -> &str {
    let end = file.find('/').unwrap_or(file.len() - ".rs".len());
    &file[..end]
}

fn module_of(file: &str) -> Module {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    match path {
        "lib" | "main" => Module::new(),
        other => other.split('/').map(str::to_owned).collect(),
    }
}

/// The paths that a file contains.
#[derive(Default)]
struct Paths {
    imports: Vec<Module>,
    reexports: Vec<Module>,
    inline: Vec<Module>,
}

impl Paths {
    fn find(words: &[String]) -> Paths {
        let mut paths = Paths::default();
        let mut at = 0;
        while at < words.len() {
            let before = &words[..at];
            // `section.use` is a class of HTML.
            if words[at] == "use" && before.last().is_none_or(|word| word != ".") {
                // `pub use`, or `pub(crate) use`.
                let is_public = before.ends_with(&["pub".to_owned()])
                    || (before.last().is_some_and(|word| word == ")")
                        && before.len() > 3
                        && before[before.len() - 4] == "pub");
                let end = at + words[at..].iter().position(|word| word == ";").unwrap_or(0);
                let mut leaves = Vec::new();
                read_tree(&words[at + 1..end], &mut 0, &Module::new(), &mut leaves);
                match is_public {
                    true => paths.reexports.extend(leaves),
                    false => paths.imports.extend(leaves),
                }
                at = end.max(at + 1);
                continue;
            }
            let mut end = at;
            while end + 2 < words.len() && words[end + 1] == "::" && is_name(&words[end + 2]) {
                end += 2;
            }
            let is_continued = at > 0 && words[at - 1] == "::";
            if end > at && is_name(&words[at]) && !is_continued {
                let path = words[at..=end].iter().step_by(2);
                paths.inline.push(path.cloned().collect());
            }
            at = end + 1;
        }
        paths
    }
}

/// Reads one tree of a `use` from `words` at `at`, below `prefix`.
fn read_tree(words: &[String], at: &mut usize, prefix: &Module, leaves: &mut Vec<Module>) {
    let mut path = prefix.clone();
    while let Some(word) = words.get(*at) {
        match word.as_str() {
            "{" => {
                *at += 1;
                while words.get(*at).is_some_and(|word| word != "}") {
                    read_tree(words, at, &path, leaves);
                    if words.get(*at).is_some_and(|word| word == ",") {
                        *at += 1;
                    }
                }
                *at += 1;
                return;
            }
            "," | "}" => break,
            "self" if path.len() > prefix.len() || !prefix.is_empty() => *at += 1,
            "as" => *at += 2,
            "::" | "*" => *at += 1,
            _ => {
                path.push(word.clone());
                *at += 1;
            }
        }
    }
    leaves.push(path);
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Returns the words of a source text: names, `::` and single marks. Comments, strings and what
/// follows `#[cfg(test)] mod tests` are left out.
fn words(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            raw.find("\"#").map_or(rest.len(), |end| end + 5)
        } else if first == '"' {
            string_length(rest)
        } else if first == '\'' {
            character_length(rest)
        } else if rest.starts_with("::") {
            words.push("::".to_owned());
            2
        } else if first.is_alphanumeric() || first == '_' {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            words.push(rest[..length].to_owned());
            length
        } else {
            if !first.is_whitespace() {
                words.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    words
}

/// Returns the length of the string that `text` begins with, its quotation marks included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of the character that `text` begins with; 1 for the mark of a lifetime.
fn character_length(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some(_)) => text[3..].find('\'').map_or(1, |end| end + 4),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}
