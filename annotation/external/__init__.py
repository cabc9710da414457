"""Labels that were made elsewhere: nobody works in such a study here."""
