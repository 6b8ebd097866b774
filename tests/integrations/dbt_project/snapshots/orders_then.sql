{% snapshot orders_then %}
{{ config(unique_key="nbr", strategy="check", check_cols=["amount"], target_schema="dwh") }}
SELECT nbr, amount FROM {{ source("raw", "orders") }}
{% endsnapshot %}
