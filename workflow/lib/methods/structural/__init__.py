"""The structural probes of Hewitt and Manning (2019): is a sentence's tree in its vectors?

settings    what can be set
gold_trees  gold depths and distances of a treebank
words       the vectors that a model's layers give to a treebank's words
batches     sentences side by side, padded only after the projection
probes      the probe: a linear projection
losses      both probes' losses
training    all layers of a model in one pass over the data
spanning    minimum spanning trees
scores      Spearman, root accuracy, UUAS
"""
