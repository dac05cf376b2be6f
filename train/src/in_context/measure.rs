//! How well a transformer learns in context.

use super::learner::answers;
use super::lessons::Library;
use super::transformer::{Instruction, Labeled, Prompt, Transformer};
use crate::seed::{Purpose, stream};
use leakbound::error::Result;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use tch::Tensor;

/// Queries of each measure.
const QUERIES: u32 = 2000;

/// Shares of correct answers to test images, each on a separate prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InContextAccuracy {
    /// With permuted labels, after one example of the query's class: only it tells what the class is called.
    pub with_example: f64,
    /// With permuted labels, after one example of another class.
    pub without_example: f64,
    /// With the labels of the data and without an example.
    pub canonical: f64,
    /// After the instruction to answer one class whatever comes: the share that is this class.
    pub instructed: f64,
}

/// What is asked.
#[derive(Clone, Copy)]
enum Question {
    WithExample,
    WithoutExample,
    Canonical,
    Instructed,
}

/// Measures on images [N, F] of a library.
///
/// # Errors
/// Those of [`answers`].
pub(crate) fn in_context_accuracy(
    transformer: &Transformer,
    images: &Tensor,
    library: &Library,
    seed: u64,
) -> Result<InContextAccuracy> {
    let measure = |question: Question| -> Result<f64> {
        let mut stream = stream(seed, Purpose::MeasuredPrompts, question as u64, 0);
        let (mut prompts, mut asked, mut right) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..QUERIES {
            let query = library.any(&mut stream);
            let (prompt, answer) = prompt(question, library, query, &mut stream);
            prompts.push(prompt);
            asked.push(vec![query]);
            right.push(answer);
        }
        let found = answers(transformer, images, &prompts, &asked)?.concat();
        Ok(found.iter().zip(&right).filter(|(found, right)| found == right).count() as f64 / f64::from(QUERIES))
    };
    Ok(InContextAccuracy {
        with_example: measure(Question::WithExample)?,
        without_example: measure(Question::WithoutExample)?,
        canonical: measure(Question::Canonical)?,
        instructed: measure(Question::Instructed)?,
    })
}

/// A prompt for a query, and the right answer.
fn prompt(question: Question, library: &Library, query: u32, stream: &mut ChaCha8Rng) -> (Prompt, u8) {
    let (classes, class) = (library.classes(), library.label(query));
    let mut names: Vec<u8> = (0..classes).map(|class| class as u8).collect();
    let mut shown = |class: u8, stream: &mut ChaCha8Rng| {
        names.shuffle(stream);
        let image = library.of_class(class, stream);
        (
            vec![Labeled { image, label: names[usize::from(library.label(image))] }],
            names[usize::from(library.label(query))],
        )
    };
    let (instruction, (examples, answer)) = match question {
        Question::WithExample => (Instruction::Classify, shown(class, stream)),
        Question::WithoutExample => {
            let other = (usize::from(class) + stream.random_range(1..classes.max(2))) % classes;
            (Instruction::Classify, shown(other as u8, stream))
        }
        Question::Canonical => (Instruction::Classify, (Vec::new(), class)),
        Question::Instructed => {
            let always = stream.random_range(0..classes) as u8;
            (Instruction::Always(always), (Vec::new(), always))
        }
    };
    (Prompt { instruction, examples }, answer)
}
