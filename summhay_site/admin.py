"""The admin of accounts."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from summhay_site.models import User

admin.site.register(User, UserAdmin)
