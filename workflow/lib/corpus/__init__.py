"""The embedded corpus: a seeded, English-like synthetic language with full annotation.

lexicon    words and their meanings                meaning    propositions and referents
grammar    annotated sentences from propositions   documents  sentences with a topic, a polarity, recurring referents
tasks      a stand-in for every dataset of the four papers, made from the above
"""
