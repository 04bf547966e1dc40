"""What stands on an encoder during fine-tuning: one file per kind of head, with all that the loop asks of a task.

tunable         an encoder and a head, and what every head must offer
rows            what examples have in common that are whole rows
classification  sequence, word, word_pair: a label for each text, word or pair of words
pooled          a label for each text by transformers' own classifier, on the pre-trained pooler
parser          a head and a relation for each word (its parts: `biaffine`; its examples: `sentences`)
answers         where the answer begins and ends in a passage (its examples: `questions`, cut into `windows`)
"""

from workflow.lib.base.errors import UserError, nearest


def head_class(name: str) -> type:
    """By the name it has in the config. Imported on demand: no task needs them all."""
    from workflow.lib.training.heads import answers, classification, parser, pooled

    heads = classification.HEADS | {
        "pooled": pooled.PooledHead, "parser": parser.ParserHead, "answers": answers.AnswerHead
    }  # fmt: skip
    if name not in heads:
        raise UserError(f"unknown head '{name}'{nearest(name, list(heads))}")
    return heads[name]
