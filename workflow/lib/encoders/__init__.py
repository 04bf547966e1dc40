"""Hugging Face encoders without their names: the same few questions asked of BERT, RoBERTa, DistilBERT, ELECTRA, MPNet,
ModernBERT and whatever else is a stack of blocks on top of embeddings.

layers          where the embeddings, the blocks and their projections are
recipes         how an encoder is adapted: full, freeze-k, truncate-k, reinit-k, nearzero-k, frozen
learning_rates  optimiser groups with a rate per layer
loading         from a folder to a model and its tokenizer
states          from a batch to hidden states
"""
