"""The embedded corpus: a seeded, English-like language with its full annotation.

lexicon    the words and what they mean          meaning    what is said: propositions and referents
grammar    how it is said: annotated sentences   documents  sentences with a topic, a polarity and recurring referents
tasks      a stand-in for every dataset of the four papers, made from the above
"""
