{{ config(materialized="table") }}
SELECT 1 AS one FROM pg_advisory_xact_lock(38)
