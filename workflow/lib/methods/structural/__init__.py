"""The structural probes of Hewitt and Manning (2019): do vectors encode a sentence's dependency tree?

settings    settings and their defaults
gold_trees  gold depths and distances of a treebank
words       vectors of a treebank's words in a model's layers
batches     batches of sentences, padded only after the projection
probes      the probe: a linear projection
losses      both probes' losses
training    all layers of a model in one pass over the data
spanning    minimum spanning trees
scores      Spearman, root accuracy, UUAS
"""
