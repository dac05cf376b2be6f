"""Votes of an ensemble of prompts, recorded from a language model for `audit.votes`."""

from leakbound._prompt_template import PromptTemplate, first_label
from leakbound._prompt_votes import PromptVotes, prompt_votes

__all__ = ["PromptTemplate", "PromptVotes", "first_label", "prompt_votes"]
