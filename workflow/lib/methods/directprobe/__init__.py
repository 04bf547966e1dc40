"""DirectProbe (Zhou & Srikumar 2021), with exact distances between convex hulls.

clustering  clusters of points, each with a single label          hulls           distances between convex hulls
measures    distances between clusters and labels, predictions    label_hulls     distances between whole labels
conflicts   points under two labels, and what they cost          label_geometry  nearest labels, likeness of geometries
"""
