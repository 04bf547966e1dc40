"""The structural probes of Hewitt and Manning (2019) as merchant2020 uses them: is a sentence's tree in its vectors?

settings    what can be set
trees       gold depths and distances of a treebank
words       the vectors that a model's layers give to a treebank's words
batches     sentences side by side, padded only after the projection
losses      both probes' losses and their gradients
lanes       many probes trained side by side, each with its own learning rate
patience    when each probe's rate falls and when it stops
training    all layers of a model in one pass over the data
rank        rank correlation with ties
spanning    minimum spanning trees, many at once
scores      Spearman, root accuracy, UUAS
"""
