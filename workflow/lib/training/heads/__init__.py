"""Task heads on an encoder during fine-tuning: one file per kind of head, with all that the training loop needs.

tunable         an encoder and a head, and the interface of heads
rows            base classes of examples
classification  sequence, word, word_pair: a label for each text, word or pair of words
pooled          a label for each text by transformers' own classifier, on the pre-trained pooler
parser          a syntactic head and a relation for each word (layers: `biaffine`; examples: `sentences`)
answers         start and end of the answer in a passage (examples: `questions`, split into `windows`)
"""

from workflow.lib.base.errors import UserError, nearest


def head_class(name: str) -> type:
    """A head's class by its name in the config. Imported on demand, as no task needs all of them."""
    from workflow.lib.training.heads import answers, classification, parser, pooled

    heads = classification.HEADS | {
        "pooled": pooled.PooledHead, "parser": parser.ParserHead, "answers": answers.AnswerHead
    }  # fmt: skip
    if name not in heads:
        raise UserError(f"unknown head '{name}'{nearest(name, list(heads))}")
    return heads[name]
