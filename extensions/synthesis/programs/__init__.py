"""What is asked on each part of a synthesis, one file a kind of part; pure: replies in, next questions out."""
