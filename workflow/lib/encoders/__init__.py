"""One interface to Hugging Face encoders: BERT, RoBERTa, DistilBERT, ELECTRA, MPNet, ModernBERT and any other stack of
blocks on top of embeddings.

layers        finds the embeddings, the blocks and their projections
recipes       how an encoder is adapted: full, freeze-k, truncate-k, reinit-k, nearzero-k, frozen
loading       loads a model and its tokenizer from a folder
states        hidden states of a batch
tokenization  token ids of a dataset
unit_pooling  vectors of units (words, tokens, [CLS]) from hidden states
"""
