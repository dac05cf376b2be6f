//! The studies of a file as requests, and what they read and write: all is checked before the first one runs.

use crate::args::Common;
use crate::command_line::Program;
use crate::options::{Origin, Schema};
use crate::output::{figure, place, replaces};
use leakbound::error::echo;
use leakbound::record::{StudyOption, StudySuite, SuiteStudy, read_suite};
use leakbound::{InputError, Result};
use std::path::{Path, PathBuf};

/// Files of studies that run each other.
const DEEPEST: usize = 16;
/// Options that hold for the whole run, not for one of its studies.
const OF_THE_RUN: [&str; 3] = ["threads", "quiet", "no-color"];
/// Options that name files a command writes. A command resumes from those in `state`, which several studies may share.
const WRITTEN: [&str; 7] =
    ["output", "report", "figures", "scores_output", "save_counterexample", "checkpoint", "recording"];
const STATE: &str = "state";

/// Reads a file of studies: the requests, in its order.
///
/// # Errors
/// [`Error::Input`](leakbound::Error::Input) for a request that cannot be read, for a file that runs itself, and for a
/// result that would replace another one or what a study reads before.
pub fn plan<P: Program>(common: &Common, file: &Path) -> Result<(StudySuite, Vec<P>)> {
    let mut plan = Plan { schema: Schema::new(), open: Vec::new(), used: Vec::new() };
    let planned = plan.suite(file)?;
    let stem = |page: &PathBuf| page.file_stem().unwrap_or_default().to_owned();
    let figures =
        common.figures.as_ref().zip(common.report.as_ref()).map(|(folder, page)| figure(&folder.join(stem(page)), 1));
    for (option, path) in [("--output", &common.output), ("--report", &common.report), ("--figures", &figures)] {
        if let Some((path, by)) = path.as_ref().and_then(|path| Some((path, plan.taken(path, option)?))) {
            return Err(replaces(option, path, &by));
        }
    }
    Ok(planned)
}

struct Plan<P> {
    schema: Schema<P>,
    /// The files that are being read, each run by the one before it.
    open: Vec<PathBuf>,
    used: Vec<Used>,
}

/// A file that a study reads or writes.
struct Used {
    place: PathBuf,
    option: String,
    by: String,
}

impl<P: Program> Plan<P> {
    fn suite(&mut self, file: &Path) -> Result<(StudySuite, Vec<P>)> {
        let suite = read_suite(file)?;
        self.open.push(where_it_is(file));
        self.used.push(Used {
            place: where_it_is(file),
            option: "file".into(),
            by: "the file of studies itself".into(),
        });
        let mut requests = Vec::with_capacity(suite.studies.len());
        for study in &suite.studies {
            let request = self.study(file, study)?;
            if let Some(inner) = request.studies() {
                let fault = |found: String, expected: String| InputError { expected, ..study.fault(file, found) };
                if self.open.contains(&where_it_is(inner)) {
                    let found = format!("the file {}, which this study belongs to", echo(&inner.to_string_lossy()));
                    return Err(fault(found, "a file that does not run itself".into()).into());
                }
                if self.open.len() == DEEPEST {
                    let found = format!("the {}th file that another one runs", DEEPEST);
                    return Err(fault(found, format!("at most {DEEPEST} files, each run by the one before it")).into());
                }
                self.suite(inner)?;
            }
            requests.push(request);
        }
        self.open.pop();
        Ok((suite, requests))
    }

    /// The request of a study, whose files are noted.
    fn study(&mut self, file: &Path, study: &SuiteStudy) -> Result<P> {
        let options: Vec<&StudyOption> = study.options.iter().collect();
        let has = |name: &str| options.iter().any(|option| option.name == name);
        if let Some(name) = OF_THE_RUN.into_iter().find(|name| has(name)) {
            let expected = format!("--{name} of `leakbound run`, for all studies together");
            return Err(InputError { expected, hint: None, ..study.fault(file, format!("the option `{name}`")) }.into());
        }
        if has("format") && !has("output") {
            let expected = "the form of a file, with `output`".into();
            return Err(InputError { expected, hint: None, ..study.fault(file, "`format` alone".into()) }.into());
        }
        let words = self.schema.arguments(&study.command, &StudyOption::map(&options), Origin::File(file.parent()));
        let words = words.map_err(|unusable| study.fault(file, unusable.to_string()))?;
        let request = self.schema.parsed(&words.words).map_err(|found| study.fault(file, found))?;
        let (written, read): (Vec<_>, Vec<_>) =
            words.paths.into_iter().partition(|(option, _)| WRITTEN.contains(&option.as_str()) || option == STATE);
        let by = |option: &str| format!("`{}` of study `{}`", option.replace('_', "-"), echo(&study.name));
        for (option, path) in read.into_iter().filter(|(_, path)| path != Path::new("-")) {
            self.used.push(Used { place: where_it_is(&path), by: by(&option), option });
        }
        for (option, path) in written {
            let path = match (option.as_str(), &request.common().report) {
                ("figures", Some(page)) => figure(&path.join(page.file_stem().unwrap_or_default()), 1),
                _ => path,
            };
            if let Some(taken) = self.taken(&path, &option) {
                let found = format!("`{option} = {}`, which is {taken}", echo(&path.to_string_lossy()));
                let expected = "a file of its own, because it is written to".into();
                return Err(InputError { expected, hint: None, ..study.fault(file, found) }.into());
            }
            self.used.push(Used { place: where_it_is(&path), by: by(&option), option });
        }
        Ok(request)
    }

    /// Who uses the file already that is to be written to; a pipe or device takes what comes.
    fn taken(&self, path: &Path, option: &str) -> Option<String> {
        let place = where_it_is(path);
        if place.exists() && !place.is_file() && !place.is_dir() {
            return None;
        }
        let clashes = |used: &&Used| used.place == place && !(option == STATE && used.option == STATE);
        self.used.iter().find(clashes).map(|used| used.by.clone())
    }
}

/// The same for all spellings of a path, whether or not there is a file.
fn where_it_is(path: &Path) -> PathBuf {
    place(path).or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_path_buf())
}
