"""Parts that a lab may do without: Django apps that can be taken away, named in the setting `EXTENSIONS`.

The rest of the program imports none of them, and none imports another; they register in `AppConfig.ready`.
"""
