"""Biaffine dependency parser: predicts each word's head and relation (Dozat and Manning 2017)."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerBase

from workflow.lib.encoders.unit_pooling import mean_of_tokens
from workflow.lib.training.heads.biaffine import ArcScores, LabelScores, Role
from workflow.lib.training.heads.dependency_trees import attachment_scores, best_tree
from workflow.lib.training.heads.sentences import TreeBatch, TreeExamples, read_trees
from workflow.lib.training.heads.tunable import Head, Tunable


class Said(NamedTuple):
    arcs: torch.Tensor  # (words, 1 + longest sentence) score of each head; -inf: no such word, or the word itself
    dependents: torch.Tensor  # (words, size) for scores of relations, once a head is chosen
    heads: torch.Tensor  # (sentences, 1 + longest sentence, size)


class ParserHead(Head):
    """Reads the mean of a word's tokens; [CLS] represents the root."""

    def __init__(self, width: int, labels: list[str], settings: dict):
        super().__init__(width, labels, settings)
        arc, label, share_dropped = (settings[f"parser_{name}"] for name in ("arc", "label", "dropout"))
        self.arc_dependent, self.arc_head = Role(width, arc, share_dropped), Role(width, arc, share_dropped)
        self.label_dependent, self.label_head = Role(width, label, share_dropped), Role(width, label, share_dropped)
        self.arcs, self.labels = ArcScores(arc), LabelScores(label, len(labels))

    @classmethod
    def read(
        cls, table: pa.Table, info: dict, tokenizer: PreTrainedTokenizerBase, longest: int, labels: list[str] | None
    ) -> TreeExamples:
        return read_trees(table, info, tokenizer, longest, labels)

    def forward(self, states: torch.Tensor, batch: TreeBatch) -> Said:
        words, at = mean_of_tokens(states, batch.tokens), (batch.line, batch.place)
        nodes = words.new_zeros(len(states), 1 + int(batch.n_words.max()), states.shape[-1])
        nodes[:, 0] = states[:, 0]
        nodes[at] = words
        arcs = self.arcs(self.arc_dependent(nodes), self.arc_head(nodes))[at]
        head = torch.arange(arcs.shape[1], device=arcs.device)
        impossible = (head > batch.n_words[:, None]) | (head == batch.place[:, None])
        arcs = arcs.masked_fill(impossible, float("-inf"))
        return Said(arcs, self.label_dependent(nodes)[at], self.label_head(nodes))

    def label_scores(self, said: Said, batch: TreeBatch, heads: torch.Tensor) -> torch.Tensor:
        """(words, labels) scores of relations, given these heads."""
        return self.labels(said.dependents, said.heads[batch.line, heads])

    def loss(self, said: Said, batch: TreeBatch) -> torch.Tensor:
        """Arc and relation losses; relations are trained on the gold heads, without relations numbered -1."""
        of_arcs = cross_entropy(said.arcs, batch.heads, reduction="sum")
        labels = self.label_scores(said, batch, batch.heads)
        return 0.5 * of_arcs + 0.5 * cross_entropy(labels, batch.labels, ignore_index=-1, reduction="sum")

    def outcomes(self, model: Tunable, examples: TreeExamples) -> dict[str, np.ndarray]:
        """Of every word: true head and relation, and those of the best tree and of the word's best head alone."""
        columns = []
        for _, batch, said in model.said_of(examples):
            trees, greedy = best_trees(said.arcs, batch), said.arcs.argmax(dim=1)
            of_trees, of_greedy = (self.label_scores(said, batch, heads).argmax(dim=1) for heads in (trees, greedy))
            columns.append((batch.heads, batch.labels, trees, of_trees, greedy, of_greedy))
        names = ("head", "label", "tree_head", "tree_label", "greedy_head", "greedy_label")
        return {name: torch.cat(column).cpu().numpy() for name, column in zip(names, zip(*columns))}

    def metrics(self, outcomes: dict[str, np.ndarray]) -> dict[str, float]:
        """Labelled and unlabelled attachment of the best trees; las_greedy: where every word takes its best head."""
        (uas, las), (_, las_greedy) = (
            attachment_scores(outcomes[f"{kind}_head"], outcomes[f"{kind}_label"], outcomes["head"], outcomes["label"])
            for kind in ("tree", "greedy")
        )
        return {"las": las, "uas": uas, "las_greedy": las_greedy}


def best_trees(arcs: torch.Tensor, batch: TreeBatch) -> torch.Tensor:
    """Heads of all words in the best tree of each sentence."""
    scores, sizes = arcs.float().cpu().numpy(), torch.bincount(batch.line).tolist()
    sentences = np.split(scores, np.cumsum(sizes)[:-1])
    trees = [best_tree(sentence[:, : n + 1]) for sentence, n in zip(sentences, sizes)]
    return torch.from_numpy(np.concatenate(trees)).to(arcs.device)
