"""Trains a WordPiece tokenizer (like BERT's: lower case, punctuation split off) on a text dataset."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def train_wordpiece(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    counts = Counter(text for line in texts for text in line.split())
    learner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    learner.normalizer = normalizers.BertNormalizer(lowercase=True)
    learner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    # The library numbers continuation letters in the order of a hash map and breaks ties between merges by these
    # numbers, so that two trainings differ (tokenizers issue 1794). As special tokens, they have fixed numbers.
    letters = sorted({letter for word in counts for letter in learner.normalizer.normalize_str(word)})
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size,
        special_tokens=SPECIAL + [f"##{letter}" for letter in letters],
        show_progress=False,  # would write to the terminal of a parallel run
    )
    learner.train_from_iterator((" ".join([word] * count) for word, count in sorted(counts.items())), trainer)
    return with_vocabulary(learner.get_vocab())


def with_vocabulary(vocab: dict[str, int]) -> Tokenizer:
    """BERT's tokenizer with this vocabulary, in which only BERT's own special tokens are special."""
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocab[token]) for token in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def save(tokenizer: Tokenizer, folder: Path, max_tokens: int) -> None:
    from transformers import BertTokenizer

    fast = BertTokenizer(tokenizer_object=tokenizer, model_max_length=max_tokens)
    fast.save_pretrained(folder)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.seals import sealed_folder
    from workflow.lib.data.dataset_files import read_dataset

    log = to_rule_log(snakemake.log[0])
    table, _ = read_dataset(snakemake.input[0])
    trained = train_wordpiece(table["text"].to_pylist(), snakemake.params.vocab_size)
    log.info("a vocabulary of %d", trained.get_vocab_size())
    with sealed_folder(snakemake.output[0]) as folder:
        save(trained, folder, snakemake.params.max_tokens)
