"""Small configurations of every class of encoder that the workflow supports: no download."""

import transformers

FAMILIES = ["bert", "roberta", "distilbert", "electra", "mpnet", "modernbert"]


def family_config(family: str, layers: int, width: int, heads: int, inner: int) -> transformers.PreTrainedConfig:
    shape = {"vocab_size": 99, "max_position_embeddings": 40, "pad_token_id": 1}
    if family == "distilbert":
        return transformers.DistilBertConfig(**shape, dim=width, n_layers=layers, n_heads=heads, hidden_dim=inner)
    ends = {"bos_token_id": 0, "eos_token_id": 2, "cls_token_id": 0, "sep_token_id": 2}
    more = {
        "roberta": {"type_vocab_size": 1},
        "electra": {"embedding_size": width // 2},
        # a window shorter than the texts, so that local and global blocks differ
        "modernbert": {"local_attention": 6, **ends},
    }
    kind = {"bert": "Bert", "roberta": "Roberta", "electra": "Electra", "mpnet": "MPNet", "modernbert": "ModernBert"}
    return getattr(transformers, f"{kind[family]}Config")(
        **shape, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=inner,
        **more.get(family, {}),
    )  # fmt: skip
