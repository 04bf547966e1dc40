"""Six families of encoders, tiny and random, must answer every question in the same way."""

import copy
import json

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import nn
from transformers import AutoModel, PreTrainedTokenizerFast

from tests.families import FAMILIES, family_config
from tests.tiny import hidden_states
from workflow.lib.base.errors import UserError
from workflow.lib.encoders import layers, loading, recipes
from workflow.lib.training import learning_rates

torch.set_num_threads(1)
N_LAYERS, WIDTH, N_TOKENS = 4, 32, 20
DEPTHS = range(N_LAYERS + 1)
LAST_PROJECTIONS = {
    "bert": "output.dense", "roberta": "output.dense", "electra": "output.dense", "mpnet": "output.dense",
    "distilbert": "ffn.lin2", "modernbert": "mlp.Wo",
}  # fmt: skip


def make(family: str, seed: int = 0):
    """A random encoder whose norms, biases and relative positions are not trivial."""
    torch.manual_seed(seed)
    config = family_config(family, N_LAYERS, WIDTH, heads=4, inner=48)
    config._attn_implementation = "eager"
    model = AutoModel.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@pytest.fixture(scope="module", params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture(scope="module")
def prototype(family):
    return make(family)


@pytest.fixture
def model(prototype):
    return copy.deepcopy(prototype)


@pytest.fixture(scope="module")
def batch():
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(3, 99, (3, N_TOKENS), generator=generator)
    mask = torch.ones_like(ids)
    ids[1, 12:], mask[1, 12:] = 1, 0
    types = (torch.arange(N_TOKENS) > 8).long().expand(3, -1)
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types, "labels": torch.zeros(3)}


@torch.no_grad()
def states_of(model, batch):
    return hidden_states(model, batch)


def assert_same(one, other):
    torch.testing.assert_close(one, other, rtol=0, atol=1e-6)


# where things are


def test_blocks_embeddings_and_projections_are_found(model, family):
    stack = layers.blocks(model)
    assert len(stack) == N_LAYERS and len({type(block) for block in stack}) == 1
    assert model.get_input_embeddings() in layers.embeddings(model).modules()
    projections = layers.linear_projections(stack[0])
    assert len(projections) == (4 if family == "modernbert" else 6)
    assert layers.output_projection(stack[0]) is projections[LAST_PROJECTIONS[family]]
    assert layers.output_projection(stack[0]).weight.shape == (WIDTH, 48)


def test_parts_cover_every_parameter_once_in_order(model, family):
    found = layers.parts(model)
    in_parts = [id(p) for part in found for p in part.module.parameters()]
    assert sorted(in_parts) == sorted(id(p) for p in model.parameters())
    assert [part.layer for part in found] == sorted(part.layer for part in found)
    assert [part.module for part in found if 1 <= part.layer <= N_LAYERS] == list(layers.blocks(model))
    below = {part.name for part in found if part.layer == 0}
    above = {part.name for part in found if part.layer == N_LAYERS + 1}
    extra = {"electra": {"embeddings_project"}, "mpnet": {"encoder.relative_attention_bias"}}
    assert below == {"embeddings"} | extra.get(family, set())
    assert above == {"modernbert": {"final_norm"}, "distilbert": set(), "electra": set()}.get(family, {"pooler"})
    assert (layers.final_norm(model) is not None) == (family == "modernbert")


def test_shared_blocks_are_refused():
    config = transformers.AlbertConfig(
        vocab_size=99, embedding_size=8, hidden_size=16, num_attention_heads=2, intermediate_size=16
    )
    with pytest.raises(UserError, match="ALBERT"):
        layers.blocks(AutoModel.from_config(config))


# hidden states


def test_hidden_states_are_what_enters_and_leaves_the_blocks(model, batch):
    seen = []
    stack = layers.blocks(model)
    stack[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    for block in stack:
        block.register_forward_hook(lambda _, __, out: seen.append(out[0] if isinstance(out, tuple) else out))
    states = states_of(model, batch)
    assert len(states) == N_LAYERS + 1
    for expected, state in zip(seen, states, strict=True):
        assert state.shape == (3, N_TOKENS, WIDTH)
        assert_same(state, expected)


def test_read_out_of_the_last_layer_is_what_heads_read(model, family, batch):
    with torch.no_grad():
        last = model(**loading.model_inputs(model, batch)).last_hidden_state
        states = hidden_states(model, batch)
        assert_same(loading.StateReader(model).read_out(states[-1]), last)
    assert torch.allclose(states[-1], last) == (family != "modernbert")


def test_inputs_unknown_to_the_encoder_are_left_out(model, family, batch):
    names = set(loading.model_inputs(model, batch))
    assert names - {"token_type_ids"} == {"input_ids", "attention_mask"}
    assert ("token_type_ids" in names) == (family in {"bert", "electra"})


# recipes


@pytest.mark.parametrize("depth", DEPTHS)
def test_freezing_keeps_the_lower_layers_through_training(model, batch, depth):
    recipes.apply_recipe(model, f"freeze-{depth}", seed=0)
    before = states_of(model, batch)
    above = [p for part in layers.parts(model) if part.layer > depth for p in part.module.parameters()]
    assert all(p.requires_grad for p in above)
    loss = model(**loading.model_inputs(model, batch)).last_hidden_state[:, 0].pow(3).sum()
    if loss.requires_grad:
        loss.backward()
        torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=1.0).step()
    after = states_of(model, batch)
    for layer in DEPTHS:
        unchanged = torch.allclose(before[layer], after[layer], atol=1e-6)
        assert unchanged == (layer <= depth), layer


def test_full_leaves_everything_trainable_and_frozen_nothing(model):
    weights = copy.deepcopy(model.state_dict())
    assert all(p.requires_grad for p in recipes.apply_recipe(model, "full", seed=0).parameters())
    assert not any(p.requires_grad for p in recipes.apply_recipe(model, "frozen", seed=0).parameters())
    assert all(torch.equal(weights[name], value) for name, value in model.state_dict().items())


@pytest.mark.parametrize("depth", DEPTHS)
def test_truncation_gives_the_full_models_layer_even_after_reloading(model, family, batch, depth, tmp_path):
    full = states_of(model, batch)
    config = model.config
    if family == "modernbert" and depth == 0:
        with pytest.raises(UserError, match="at least 1"):
            recipes.apply_recipe(model, "truncate-0", seed=0)
        return
    recipes.apply_recipe(model, f"truncate-{depth}", seed=0)
    assert config.num_hidden_layers == N_LAYERS  # another model's config object would not have been touched
    assert model.config.num_hidden_layers == depth == len(layers.blocks(model))
    cut = states_of(model, batch)
    assert len(cut) == depth + 1
    assert_same(cut[-1], full[depth])

    model.save_pretrained(tmp_path)
    reloaded = loading.load_encoder(tmp_path)
    reloaded.set_attn_implementation("eager")
    assert len(layers.blocks(reloaded)) == depth
    for ours, theirs in zip(cut, states_of(reloaded, batch), strict=True):
        assert_same(theirs, ours)
    with torch.no_grad():
        last = [m(**loading.model_inputs(m, batch)).last_hidden_state for m in (model, reloaded)]
    assert_same(*last)


def test_truncation_keeps_the_alternation_of_attention():
    model = make("modernbert")
    expected = model.config.layer_types[:3]
    assert set(expected) == {"full_attention", "sliding_attention"}
    assert recipes.apply_recipe(model, "truncate-3", seed=0).config.layer_types == expected


@pytest.mark.parametrize("depth", DEPTHS)
def test_reinit_redraws_the_projections_of_the_top_blocks_alone(model, depth):
    before = copy.deepcopy(model.state_dict())
    recipes.apply_recipe(model, f"reinit-{depth}", seed=3)
    tops = list(layers.blocks(model))[N_LAYERS - depth :]
    redrawn = {id(linear.weight) for block in tops for linear in layers.linear_projections(block).values()}
    changed = {id(p) for name, p in model.named_parameters() if not torch.equal(p, before[name])}
    assert changed == redrawn


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("layernorm", [False, True])
def test_reinit_resets_biases_and_norms_only_when_asked(model, bias, layernorm):
    before = copy.deepcopy(model)
    recipes.apply_recipe(model, "reinit-1", seed=3, reinit_bias=bias, reinit_layernorm=layernorm)
    for old, new in zip(layers.blocks(before)[-1].modules(), layers.blocks(model)[-1].modules()):
        if isinstance(new, nn.Linear) and new.bias is not None:
            assert torch.equal(new.bias, torch.zeros_like(new.bias) if bias else old.bias)
        if isinstance(new, nn.LayerNorm):
            assert torch.equal(new.weight, torch.ones_like(new.weight) if layernorm else old.weight)
            if new.bias is not None:
                assert torch.equal(new.bias, torch.zeros_like(new.bias) if layernorm else old.bias)
    assert_same(layers.blocks(model)[0].state_dict(), layers.blocks(before)[0].state_dict())


@pytest.mark.parametrize(("recipe", "sd", "bound"), [("reinit", 0.0176, 0.04), ("nearzero", 4.62e-4, 8e-4)])
def test_redrawn_weights_have_the_stated_spread(model, recipe, sd, bound):
    recipes.apply_recipe(model, f"{recipe}-{N_LAYERS}", seed=5)
    weights = torch.cat(
        [p.weight.flatten() for b in layers.blocks(model) for p in layers.linear_projections(b).values()]
    )
    assert weights.abs().max() <= bound * (1 + 1e-6)
    assert weights.abs().max() > 0.97 * bound
    assert weights.std().item() == pytest.approx(sd, rel=0.02)
    assert abs(weights.mean().item()) < 4 * sd / len(weights) ** 0.5


def test_a_block_near_zero_with_fresh_norms_nearly_passes_its_input_on(prototype):
    """The released code's slip grows with the spread: 2 sd of an sd."""
    drawn = recipes.apply_recipe(copy.deepcopy(prototype), "nearzero-1", seed=5, reinit_sd=0.06)
    top = layers.blocks(drawn)[-1]
    weights = torch.cat([p.weight.flatten() for p in layers.linear_projections(top).values()])
    assert 0.97 * 0.0072 < weights.abs().max() <= 0.0072 * (1 + 1e-6)
    for norm in (module for module in top.modules() if isinstance(module, nn.LayerNorm)):
        assert torch.equal(norm.weight, torch.ones_like(norm.weight))
    below = [module for module in layers.blocks(drawn)[0].modules() if isinstance(module, nn.LayerNorm)]
    assert not any(torch.equal(norm.weight, torch.ones_like(norm.weight)) for norm in below)


def test_a_seed_means_the_same_draw_whatever_the_depth(prototype):
    def top(depth, seed):
        drawn = recipes.apply_recipe(copy.deepcopy(prototype), f"reinit-{depth}", seed)
        return layers.output_projection(layers.blocks(drawn)[-1]).weight

    assert torch.equal(top(1, seed=7), top(1, seed=7))
    assert torch.equal(top(1, seed=7), top(3, seed=7))
    assert not torch.equal(top(1, seed=7), top(1, seed=8))


def test_drawing_leaves_the_global_generator_alone(model):
    state = torch.get_rng_state()
    recipes.apply_recipe(model, "reinit-2", seed=7)
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.parametrize(
    "text", ["freez-3", "freeze", "freeze-", "freeze--1", "freeze-1.5", "freeze-03", "", "full-2", None]
)
def test_malformed_recipes_say_what_is_possible(text):
    with pytest.raises(UserError, match=r"full, frozen, freeze-k, truncate-k, reinit-k, nearzero-k"):
        recipes.parse_recipe(text)


def test_a_misspelt_recipe_names_the_nearest():
    with pytest.raises(UserError, match="did you mean 'truncate-k'"):
        recipes.parse_recipe("trunkate-2")


@pytest.mark.parametrize("name", recipes.WITH_DEPTH)
def test_depth_beyond_the_encoder_is_an_error(prototype, name):
    assert recipes.parse_recipe(f"{name}-12") == (name, 12)
    with pytest.raises(UserError, match=rf"{name}-5.*has 4.*0\.\.4"):
        recipes.apply_recipe(copy.deepcopy(prototype), f"{name}-5", seed=0)


def test_the_spread_scales_with_the_standard_deviation():
    one, three = (recipes.apply_recipe(make("bert"), "reinit-1", seed=0, reinit_sd=sd) for sd in (0.02, 0.06))
    pairs = zip(*(layers.linear_projections(layers.blocks(model)[-1]).values() for model in (one, three)))
    for narrow, wide in pairs:
        torch.testing.assert_close(3 * narrow.weight, wide.weight)


# learning rates


def rates(groups):
    return {id(p): group["lr"] for group in groups for p in group["params"]}


@pytest.mark.parametrize("recipe", ["full", "freeze-0", "freeze-2", "truncate-2", "frozen"])
@pytest.mark.parametrize("decay", [1.0, 0.9])
def test_every_trainable_parameter_is_in_exactly_one_group(model, recipe, decay):
    recipes.apply_recipe(model, recipe, seed=0)
    head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2))
    groups = learning_rates.parameter_groups(model, head, lr=1e-3, layer_decay=decay, weight_decay=0.01)
    grouped = [id(p) for group in groups for p in group["params"]]
    trainable = [id(p) for p in [*model.parameters(), *head.parameters()] if p.requires_grad]
    assert sorted(grouped) == sorted(trainable)
    torch.optim.AdamW(groups, fused=True)


@pytest.mark.parametrize("mode", ["decayed", "full"])
def test_rates_follow_the_closed_form(model, mode):
    head = nn.Linear(WIDTH, 2)
    groups = learning_rates.parameter_groups(model, head, 2e-5, layer_decay=0.95, embeddings_lr_mode=mode)
    rate = rates(groups)
    for part in layers.parts(model):
        expected = 2e-5 * 0.95 ** (N_LAYERS - min(part.layer, N_LAYERS))
        if part.layer == 0 and mode == "full":
            expected = 2e-5
        assert {rate[id(p)] for p in part.module.parameters()} == {expected}
    assert rate[id(head.weight)] == 2e-5
    faster = learning_rates.parameter_groups(model, head, 2e-5, layer_decay=0.95, head_lr=1e-3)
    assert rates(faster)[id(head.weight)] == 1e-3
    assert rates(faster)[id(layers.output_projection(layers.blocks(model)[-1]).weight)] == 2e-5


def test_biases_and_norms_do_not_decay(model):
    groups = learning_rates.parameter_groups(model, nn.Linear(WIDTH, 2), 1e-3, weight_decay=0.01)
    assert len(groups) == 2  # equal rates share groups
    decaying = {id(p) for group in groups if group["weight_decay"] for p in group["params"]}
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            assert not decaying & {id(p) for p in module.parameters()}
    for name, parameter in model.named_parameters():
        assert (id(parameter) in decaying) == (parameter.ndim > 1 and "bias" not in name)


def test_a_tied_head_is_not_grouped_twice():
    model, head = make("bert"), nn.Linear(WIDTH, 99)
    head.weight = model.get_input_embeddings().weight
    groups = learning_rates.parameter_groups(model, head, 1e-3, layer_decay=0.5)
    torch.optim.AdamW(groups)
    assert rates(groups)[id(head.weight)] == 1e-3 * 0.5**N_LAYERS


def test_unknown_mode_is_an_error():
    with pytest.raises(UserError, match="decayed"):
        learning_rates.parameter_groups(make("bert"), None, 1e-3, embeddings_lr_mode="decay")


# loading


def bare_tokenizer(**options):
    words = {word: i for i, word in enumerate(["[CLS]", "[PAD]", "[SEP]", "[UNK]", "a", "b"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", **options)


@pytest.mark.parametrize("stored_as", ["safetensors", "bin", "half"])
def test_loading_gives_the_stored_weights(model, family, batch, stored_as, tmp_path):
    expected, has_pooler = states_of(model, batch), getattr(model, "pooler", None) is not None
    if stored_as == "bin":
        model.config.save_pretrained(tmp_path)
        torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    else:
        (model.half() if stored_as == "half" else model).save_pretrained(tmp_path)
    loaded = loading.load_encoder(tmp_path)
    assert loaded.dtype == torch.float32 and not loaded.training
    assert ("pooler" in {part.name for part in layers.parts(loaded)}) == has_pooler
    assert loaded.config._attn_implementation == ("eager" if family == "mpnet" else "sdpa")
    real = batch["attention_mask"].bool()  # padded positions may differ between attention implementations
    tolerance = 0.2 if stored_as == "half" else 1e-4
    for ours, theirs in zip(expected, states_of(loaded, batch), strict=True):
        torch.testing.assert_close(theirs[real], ours[real], rtol=0, atol=tolerance)


def test_a_pooler_that_is_not_stored_is_not_made_up(tmp_path):
    model = make("bert")
    model.pooler = None
    model.save_pretrained(tmp_path)
    assert loading.load_encoder(tmp_path).pooler is None


def test_a_checkpoint_that_lacks_weights_is_refused(tmp_path):
    model = make("bert")
    weights = {name: value for name, value in model.state_dict().items() if "layer.2.output.dense" not in name}
    model.save_pretrained(tmp_path, state_dict=weights)
    with pytest.raises(UserError, match=r"lacks 2 of .*layer\.2\.output\.dense"):
        loading.load_encoder(tmp_path)


def test_folders_that_cannot_be_loaded_are_named(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        loading.load_encoder(tmp_path / "nothing")
    with pytest.raises(UserError, match="does not exist"):
        loading.load_tokenizer("bert-base-uncased")
    make("bert").save_pretrained(tmp_path)
    with pytest.raises(UserError, match="no vocabulary"):
        loading.load_tokenizer(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"half a file")
    with pytest.raises(UserError, match=f"{tmp_path.name} cannot be loaded"):
        loading.load_encoder(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "t0y", "auto_map": {"AutoModel": "evil.Model"}}))
    with pytest.raises(UserError, match="cannot be loaded"):
        loading.load_encoder(tmp_path)


@pytest.mark.parametrize("as_sequence", [False, True])
def test_byte_level_tokenizers_see_a_space_before_each_word(tmp_path, as_sequence):
    pieces = {piece: i for i, piece in enumerate(["<pad>", "<unk>", "a", "b", "Ġ", "Ġa", "Ġb"])}
    backend = Tokenizer(models.BPE(pieces, [("Ġ", "a"), ("Ġ", "b")]))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.pre_tokenizer = (
        pre_tokenizers.Sequence([pre_tokenizers.Digits(), byte_level]) if as_sequence else byte_level
    )
    PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>").save_pretrained(tmp_path)
    for_text, for_words = loading.load_tokenizer(tmp_path), loading.load_tokenizer(tmp_path, for_words=True)
    assert for_text("a b").tokens() == ["a", "Ġb"]
    assert for_words(["a", "b"], is_split_into_words=True).tokens() == ["Ġa", "Ġb"]


def test_max_tokens_counts_usable_positions(family):
    offset = 2 if family in {"roberta", "mpnet"} else 0
    model = make(family)
    assert loading.max_tokens(model, bare_tokenizer()) == 40 - offset
    assert loading.max_tokens(model, bare_tokenizer(model_max_length=16)) == 16
    usable = torch.randint(3, 99, (1, 40 - offset))
    states_of(model, {"input_ids": usable, "attention_mask": torch.ones_like(usable)})


def test_max_tokens_of_a_full_size_roberta():
    config = family_config("roberta", N_LAYERS, WIDTH, heads=4, inner=48)
    config.max_position_embeddings = 514
    assert loading.max_tokens(AutoModel.from_config(config), bare_tokenizer()) == 512
