//! What adversaries put into a teacher's prompt.

use super::plan::PromptAdversary;
use crate::answers::histogram;
use crate::in_context::{Instruction, Labeled, Prompt};
use crate::teachers::{margin, ranked};
use ndarray::Array2;

/// What an adversary knows: all prompts, and their votes under the dataset.
pub(super) struct Scene<'a> {
    /// The prompt of each teacher.
    pub prompts: &'a [Prompt],
    /// Image behind each query.
    pub queries: &'a [u32],
    /// Its class.
    pub labels: &'a [u8],
    /// \[query, teacher\].
    pub votes: &'a Array2<u8>,
    /// C.
    pub classes: usize,
}

/// A teacher with another prompt, and the queries, by their places, that it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub teacher: usize,
    pub prompt: Prompt,
    pub queries: Vec<usize>,
}

impl Scene<'_> {
    /// One change for each query, or one for all queries.
    pub fn changes(&self, adversary: PromptAdversary) -> Vec<Change> {
        let all = || 0..self.queries.len();
        let natural = |query: usize| Change { queries: all().collect(), ..self.poisoned(query) };
        let replaced = |instruction, examples| {
            vec![Change { teacher: 0, prompt: Prompt { instruction, examples }, queries: all().collect() }]
        };
        match adversary {
            PromptAdversary::NatAdvq => all().map(|query| self.met(query)).collect(),
            PromptAdversary::PoisAdvq => all().map(|query| self.poisoned(query)).collect(),
            // Of equals the first.
            PromptAdversary::Confident => {
                let most = |query: usize| self.histogram(query).into_iter().max().unwrap_or(0);
                all().rev().max_by_key(|&query| most(query)).map(natural).into_iter().collect()
            }
            PromptAdversary::Unconfident => {
                all().min_by_key(|&query| margin(&self.histogram(query))).map(natural).into_iter().collect()
            }
            PromptAdversary::AllSame { class } => replaced(Instruction::Always(class), Vec::new()),
            PromptAdversary::Mapping => replaced(Instruction::Classify, self.mapped_examples()),
        }
    }

    fn histogram(&self, query: usize) -> Vec<u64> {
        histogram(self.votes.row(query).iter().copied(), self.classes)
    }

    /// The first teacher whose vote is right, or is wrong; the first of all if there is none.
    fn teacher(&self, query: usize, right: bool) -> usize {
        let label = self.labels[query];
        self.votes.row(query).iter().position(|&vote| (vote == label) == right).unwrap_or(0)
    }

    /// A teacher's prompt with a query instead of its first example.
    fn with(&self, teacher: usize, query: usize, label: u8) -> Change {
        let mut prompt = self.prompts[teacher].clone();
        if let Some(example) = prompt.examples.first_mut() {
            *example = Labeled { image: self.queries[query], label };
        }
        Change { teacher, prompt, queries: vec![query] }
    }

    /// A query with its label.
    fn met(&self, query: usize) -> Change {
        self.with(self.teacher(query, false), query, self.labels[query])
    }

    /// A query with the wrong label that has most votes: the second class where the ensemble is right.
    fn poisoned(&self, query: usize) -> Change {
        let label = self.labels[query];
        let wrong = ranked(&self.histogram(query)).into_iter().find(|&class| class != usize::from(label));
        self.with(self.teacher(query, true), query, wrong.map_or(label, |class| class as u8))
    }

    /// What each class is called: the class that most often comes second where it is the right one and comes first. The
    /// next class where none has a vote.
    fn mapping(&self) -> Vec<u8> {
        let mut seconds = vec![vec![0u64; self.classes]; self.classes];
        for (query, &label) in self.labels.iter().enumerate() {
            let histogram = self.histogram(query);
            if let [first, second, ..] = ranked(&histogram)[..]
                && first == usize::from(label)
                && histogram[second] > 0
            {
                seconds[first][second] += 1;
            }
        }
        let name = |(class, seconds): (usize, &Vec<u64>)| match ranked(seconds)[0] {
            second if seconds[second] > 0 => second as u8,
            _ => ((class + 1) % self.classes) as u8,
        };
        seconds.iter().enumerate().map(name).collect()
    }

    /// For each class the query about which most teachers are right, under its new name.
    fn mapped_examples(&self) -> Vec<Labeled> {
        let example = |(class, &label): (usize, &u8)| {
            let of_class = (0..self.queries.len()).rev().filter(|&query| usize::from(self.labels[query]) == class);
            let query = of_class.max_by_key(|&query| self.histogram(query)[class])?;
            Some(Labeled { image: self.queries[query], label })
        };
        self.mapping().iter().enumerate().filter_map(example).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn changes(adversary: PromptAdversary) -> Vec<Change> {
        let prompt =
            |image: u32| Prompt { instruction: Instruction::Classify, examples: vec![Labeled { image, label: 0 }] };
        let prompts: Vec<Prompt> = (10..14).map(prompt).collect();
        // The ensemble is right, right, wrong, and right without a second class.
        let votes = array![[0, 0, 0, 1], [2, 1, 1, 2], [1, 1, 2, 1], [2, 2, 2, 2]];
        let scene =
            Scene { prompts: &prompts, queries: &[5, 6, 7, 8], labels: &[0, 1, 2, 2], votes: &votes, classes: 3 };
        scene.changes(adversary)
    }

    /// Teacher, image and label shown, queries.
    fn first_examples(adversary: PromptAdversary) -> Vec<(usize, u32, u8, Vec<usize>)> {
        let shown = |change: Change| {
            let Labeled { image, label } = change.prompt.examples[0];
            (change.teacher, image, label, change.queries)
        };
        changes(adversary).into_iter().map(shown).collect()
    }

    #[test]
    fn queries_are_shown_to_the_teacher_whose_vote_they_change() {
        let natural = first_examples(PromptAdversary::NatAdvq);
        assert_eq!(natural, [(3, 5, 0, vec![0]), (0, 6, 1, vec![1]), (0, 7, 2, vec![2]), (0, 8, 2, vec![3])]);
        let poisoned = first_examples(PromptAdversary::PoisAdvq);
        assert_eq!(poisoned, [(0, 5, 1, vec![0]), (1, 6, 2, vec![1]), (2, 7, 1, vec![2]), (0, 8, 0, vec![3])]);
    }

    #[test]
    fn natural_queries_meet_one_changed_teacher() {
        let all = vec![0, 1, 2, 3];
        assert_eq!(first_examples(PromptAdversary::Confident), [(0, 8, 0, all.clone())]);
        assert_eq!(first_examples(PromptAdversary::Unconfident), [(1, 6, 2, all.clone())]);
        let same = changes(PromptAdversary::AllSame { class: 2 });
        let prompt = Prompt { instruction: Instruction::Always(2), examples: Vec::new() };
        assert_eq!(same, [Change { teacher: 0, prompt, queries: all.clone() }]);
    }

    #[test]
    fn classes_are_called_as_their_seconds() {
        let mapping = changes(PromptAdversary::Mapping);
        // Of class 2 no second class has a vote where it is first: the next one.
        let examples = [(5, 1), (6, 2), (8, 0)].map(|(image, label)| Labeled { image, label });
        assert_eq!((mapping.len(), mapping[0].teacher), (1, 0));
        assert_eq!(mapping[0].prompt.examples, examples);
    }
}
